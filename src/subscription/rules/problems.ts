import { didYouMean } from '../../kernel/nearest.js'
import { invalidInput, Problem, unavailable } from '../../kernel/problem.js'

/** `nearest` is the one that was probably meant; null: none is close. */
export function planNotFound(planId: string, nearest: string | null): Problem {
  const advice = didYouMean(nearest, 'check the catalog.')
  return new Problem('NOT_FOUND', 'PLAN_NOT_FOUND', `Plan "${planId}" was not found or is not published: ${advice}`, {
    details: { planId },
  })
}

export function addonNotFound(addonId: string, nearest: string | null): Problem {
  const advice = didYouMean(nearest, 'check the catalog.')
  return new Problem('NOT_FOUND', 'ADDON_NOT_FOUND', `Add-on "${addonId}" was not found or is not published: ${advice}`, {
    details: { addonId },
  })
}

export function subscriptionNotFound(subscriptionId: string): Problem {
  return new Problem('NOT_FOUND', 'SUBSCRIPTION_NOT_FOUND', `Subscription "${subscriptionId}" was not found.`, {
    details: { subscriptionId },
  })
}

export function incompatibleAddon(addonId: string, planId: string): Problem {
  return new Problem('FAILED_PRECONDITION', 'INCOMPATIBLE_SUBSCRIPTION_ADDON', `Add-on "${addonId}" cannot be added to plan "${planId}".`, {
    details: { addonId, planId },
  })
}

export function addonRequires(addonId: string, requiredAddonId: string): Problem {
  return new Problem(
    'FAILED_PRECONDITION',
    'INCOMPATIBLE_SUBSCRIPTION_ADDON',
    `Add-on "${addonId}" needs add-on "${requiredAddonId}": add it too.`,
    {
      details: { addonId, requiredAddonId },
    },
  )
}

export function alreadyEnded(subscriptionId: string, status: string): Problem {
  return new Problem(
    'FAILED_PRECONDITION',
    'SUBSCRIPTION_ALREADY_CANCELED_OR_EXPIRED',
    `Subscription "${subscriptionId}" is ${status} already.`,
    {
      details: { subscriptionId, status },
    },
  )
}

export function trialIsCanceledImmediately(subscriptionId: string): Problem {
  return new Problem(
    'FAILED_PRECONDITION',
    'TRIAL_MUST_BE_CANCELLED_IMMEDIATELY',
    `Subscription "${subscriptionId}" is in trial: cancel it with time IMMEDIATE.`,
    {
      details: { subscriptionId },
    },
  )
}

export function invalidCancellationDate(message: string): Problem {
  return new Problem('INVALID_ARGUMENT', 'INVALID_CANCELLATION_DATE', message)
}

export function invalidSubscriptionStatus(subscriptionId: string, status: string, wanted: string): Problem {
  return new Problem(
    'FAILED_PRECONDITION',
    'INVALID_SUBSCRIPTION_STATUS',
    `Subscription "${subscriptionId}" is ${status}: it cannot be ${wanted}.`,
    {
      details: { subscriptionId, status },
    },
  )
}

export function subscriptionIdTaken(subscriptionId: string): Problem {
  return new Problem(
    'ALREADY_EXISTS',
    'DUPLICATED_ENTITY_NOT_ALLOWED',
    `Subscription "${subscriptionId}" exists already for another customer or plan: choose another id.`,
    {
      details: { subscriptionId },
    },
  )
}

export function oneSubscriptionOnly(productId: string): Problem {
  return invalidInput(
    `Product "${productId}" allows one subscription per customer: omit resourceId, or allow several in the product's settings.`,
    { productId },
  )
}

export function alreadyOnLatestPlan(subscriptionId: string): Problem {
  return new Problem(
    'FAILED_PRECONDITION',
    'SUBSCRIPTION_ALREADY_ON_LATEST_PLAN',
    `Subscription "${subscriptionId}" holds the latest versions of its plan and add-ons already.`,
    { details: { subscriptionId } },
  )
}

export function slotIsTaken(productId: string, resourceId: string | null): Problem {
  const holder = resourceId === null ? 'The customer itself' : `Resource "${resourceId}"`
  return new Problem(
    'ALREADY_EXISTS',
    'DUPLICATED_ENTITY_NOT_ALLOWED',
    `${holder} holds a subscription of product "${productId}" already: cancel it first.`,
    { details: { productId, resourceId } },
  )
}

export function paymentNotWithdrawn(subscriptionId: string): Problem {
  return unavailable(
    `The invoice of subscription "${subscriptionId}", which waits for its payment, could not be taken back at the billing provider yet: try again.`,
  )
}
