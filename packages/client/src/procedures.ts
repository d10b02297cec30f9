import type { AppRouter } from '../../../src/routers/root.ts';
import type { ProceduresOf } from './procedure-types.ts';

/**
 * Types derived from the router. The build replaces this module by the written-out result, so that the published declaration
 * names neither the router nor anything it is made of (scripts/build-client.ts).
 */

type Areas = AppRouter['_def']['record'];

/** What a signed-in user may call, and how to sign in: group, then procedure. */
export type CabinetProcedures = ProceduresOf<Areas['cabinet']>;

/** Procedures outside the cabinet that need no credential. */
export type PublicProcedures = ProceduresOf<Areas['web']>;
