import type { TRPCProcedureBuilder, TRPCUnsetMarker } from '@trpc/server';
import type { Actor } from '../core/actor.ts';
import type { App } from '../core/app.ts';
import type { Context } from './context.ts';
import type { OperationMeta } from './operation-meta.ts';

/** What the guard of a base procedure adds to the context. */
export interface Admitted<A extends Actor> {
  actor: A;
  app: App;
}

/** A base procedure typed by what its guard adds, from which queries and mutations are made. */
export type WritingProcedure<Added> = Builder<Added, TRPCUnsetMarker, TRPCUnsetMarker, TRPCUnsetMarker, TRPCUnsetMarker>;

type Builder<Added, InputIn, InputOut, OutputIn, OutputOut> = TRPCProcedureBuilder<
  Context,
  OperationMeta,
  Added,
  InputIn,
  InputOut,
  OutputIn,
  OutputOut,
  false
>;

/** A zod schema, or the codec around one (`fromWire`, `toWire`). */
interface Parser {
  readonly _input: unknown;
  readonly _output: unknown;
}

/**
 * tRPC's builder without `mutation`: what is made from it has no audit action, so it may only read. A mutation comes from
 * `auditedWebProcedure`, from `adminProcedure` with a permission to change something, or says by `unaudited` why it needs no record.
 */
export interface ReadingProcedure<
  Added,
  InputIn = TRPCUnsetMarker,
  InputOut = TRPCUnsetMarker,
  OutputIn = TRPCUnsetMarker,
  OutputOut = TRPCUnsetMarker,
> {
  readonly _def: object;
  meta(meta: OperationMeta): ReadingProcedure<Added, InputIn, InputOut, OutputIn, OutputOut>;
  input<P extends Parser>(schema: P): ReadingProcedure<Added, P['_input'], P['_output'], OutputIn, OutputOut>;
  output<P extends Parser>(schema: P): ReadingProcedure<Added, InputIn, InputOut, P['_input'], P['_output']>;
  /** @param middleware adds nothing to the context */
  use(
    middleware: Parameters<Builder<Added, InputIn, InputOut, OutputIn, OutputOut>['use']>[0],
  ): ReadingProcedure<Added, InputIn, InputOut, OutputIn, OutputOut>;
  readonly query: Builder<Added, InputIn, InputOut, OutputIn, OutputOut>['query'];
}

/** `section:action`, under which the audit log records a request. */
export type AuditAction = `${string}:${string}`;

/** Actions that change nothing. */
type ReadAction = `${string}:read` | `${string}:stats`;

/** An action that changes something; `never` for one that only reads. */
export type ChangeAction<Action extends AuditAction> = Action extends ReadAction ? never : Action;

/** What an administrator's permission gives a base procedure for. */
export type AdminProcedure<Added, Action extends AuditAction> = Action extends ReadAction
  ? ReadingProcedure<Added>
  : WritingProcedure<Added>;

/**
 * A mutation without an audit action: a POST that changes nothing, or nothing that concerns the audit log. The request of an administrator
 * is recorded all the same, under the permission to read.
 * @param reason why nothing has to be recorded, as a sentence
 */
export function unaudited<Added>(reason: string, procedure: ReadingProcedure<Added>): WritingProcedure<Added> {
  return procedure.meta({ unaudited: reason }) as object as WritingProcedure<Added>;
}
