import type { ProcedureFacts } from './api-caller.ts';

/** Read from the router's metadata and inserted by the build (scripts/build-client.ts). */
declare const PROCEDURE_FACTS: ProcedureFacts;

/** One copy for both entry points. */
export const builtFacts: ProcedureFacts = PROCEDURE_FACTS;
