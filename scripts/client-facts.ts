/** What the client package knows of the procedures besides their types. */
import { objectShape } from '../src/core/zod-structure.ts';
import type { CallableProcedure } from '../src/rest/route-table.ts';
import type { OperationMeta } from '../src/routers/operation-meta.ts';
import { appRouter } from '../src/routers/root.ts';
import { schemaOf } from '../src/routers/wire.ts';

/** Paths of procedures, sorted. */
export interface ClientFacts {
  /** Accept an `Idempotency-Key`. */
  idempotent: string[];
  /** Need no credential. */
  open: string[];
  /** Begin a session whose refresh token rotates where it is asked for. */
  signIn: string[];
  /** Uploads, downloads and redirects, which are only possible over plain HTTP. */
  httpOnly: string[];
  /** Summary by path. */
  summaries: ReadonlyMap<string, string>;
}

export function readClientFacts(): ClientFacts {
  const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, CallableProcedure>);
  const paths = (test: (meta: OperationMeta, procedure: CallableProcedure) => boolean) =>
    procedures
      .filter(([, procedure]) => test(procedure._def.meta ?? {}, procedure))
      .map(([path]) => path)
      .sort();
  const isShipped = (path: string) => ['cabinet', 'web', 'admin'].includes(path.split('.', 1)[0]!);
  return {
    idempotent: paths((meta) => meta.idempotent === true).filter(isShipped),
    open: paths((meta) => meta.auth === 'NONE').filter(isShipped),
    signIn: paths((_meta, procedure) =>
      procedure._def.inputs.some((input) => 'rotate_refresh_token' in (objectShape(schemaOf(input)) ?? {})),
    ),
    httpOnly: paths(({ wire }) => wire?.multipart !== undefined || (wire?.reply ?? 'json') !== 'json'),
    summaries: new Map(procedures.map(([path, { _def }]) => [path, _def.meta?.openapi?.summary ?? ''])),
  };
}
