import type { AppRouter } from '../../../src/routers/root.ts';
import type { ProceduresOf } from './procedure-types.ts';

/** What an administrator may call: group, then procedure. Replaced by the build as `procedures.ts` is. */
export type AdminProcedures = ProceduresOf<AppRouter['_def']['record']['admin']>;
