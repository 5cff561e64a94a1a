import { availableParallelism } from 'node:os'
