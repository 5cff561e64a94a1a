import type { Stage } from './stage/stage.js'

/** Ends a fault; answers what was wrong with how the platform took it, as far as only the fault itself can tell. */
export type Undo = () => Promise<string[]>

export interface Fault {
  name: string
  /** One line: what happens. */
  about: string
  /** Among those of `--quick`. */
  isQuick?: boolean
  /** It ends processes itself; by others none may end. */
  endsProcesses?: boolean
  /** It fills the platform up itself, so that everybody is refused. */
  isFull?: boolean
  /** The data of PostgreSQL has to be on a volume that can be filled. */
  needsSmallVolume?: boolean
  /** How long it lasts once it is there. */
  holdMs: number
  /** Brings it about; answers what ends it, which is done whatever happens. */
  inject(stage: Stage): Promise<Undo>
}

export const nothing: Undo = async () => []
