import { positive } from '../../platform/config.js'

/** What every process has to know that tells of trials. */
export const trialVariables = {
  TRIAL_ENDING_SOON_DAYS: positive({ default: 3, desc: 'How long before a trial ends its `subscription.trial_ending_soon` is told' }),
}
