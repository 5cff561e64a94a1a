import { Pool } from 'undici'
import type { DenialReason } from '../../entitlement/denial.js'
import type { FeatureType, Entitlement, EntitlementState, MeterType, StateDenialReason } from '../../entitlement/state.js'
