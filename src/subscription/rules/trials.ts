/** The plan that a customer's trial of a product was of. Ids are ours. */
export interface TrialedPlan {
  planId: string
  planRefId: string
  productId: string
  productRefId: string
}

export interface ProductEligibility {
  productId: string
  productRefId: string
  eligible: boolean
}
