import type { AppRouter } from '../../../src/routers/root.ts';
import type { ProceduresOf } from './procedure-types.ts';

/**
 * Typed by the router itself. The build replaces this one module by its result written out, so that the shipped declaration
 * names neither the router nor anything it is made of (scripts/build-client.ts).
 */

type Areas = AppRouter['_def']['record'];

/** What a signed-in user may call, and how one signs in: group, then procedure. */
export type CabinetProcedures = ProceduresOf<Areas['cabinet']>;

/** Procedures outside the cabinet that need no credential. */
export type PublicProcedures = ProceduresOf<Areas['web']>;
