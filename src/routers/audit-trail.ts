import type { AdminActor, TokenActor } from '../core/actor.ts';
import type { AuditFacts, AuditRecorder } from '../core/audit.ts';
import { type HttpError, toHttp } from '../core/errors.ts';
import { REDACTED } from '../core/redaction.ts';
import { auditDetails } from '../domain/access/audit-log.ts';
import '../domain/access/ports.ts';
import type { AuditEntry, AuditStatus } from '../domain/access/types.ts';
import type { Context } from './context.ts';
import type { OperationMeta } from './operation-meta.ts';

/** The audited actor: an administrator, or an API token, of which the log has id and name. */
type AuditedActor = Pick<AdminActor, 'kind' | 'userId'> | TokenActor;

export interface AuditedRequest {
  ctx: Context;
  actor: AuditedActor;
  /** `section:action`. */
  permission: string;
  /** False for reading. */
  isChange: boolean;
  meta: OperationMeta | undefined;
  /** The decoded input; read only for an admitted request, so that a refused one does not make the service read a body. */
  getRawInput: () => Promise<unknown>;
}

/** Collects the facts of one administrative request and writes its row of the audit log when its outcome is known (spec 01 section 4.5, ours). */
export class AuditTrail implements AuditRecorder {
  readonly #request: AuditedRequest;
  #facts: AuditFacts = {};

  constructor(request: AuditedRequest) {
    this.#request = request;
  }

  record(facts: AuditFacts): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  /** What the gate returns. Its refusal is recorded; the body is not read. */
  async admit<T>(gate: () => T | Promise<T>): Promise<T> {
    try {
      return await gate();
    } catch (error) {
      const http = toHttp(error);
      void this.#write(http.status === 403 ? 'denied' : 'error', outcomeOf(http), {});
      throw error;
    }
  }

  /**
   * @param failure null = done. Resolves immediately for a read, and for a change when its row is written; when the database is
   *   unavailable, within about 2 s.
   */
  async close(failure: HttpError | null): Promise<void> {
    const { isChange } = this.#request;
    const status = failure === null ? 'success' : failure.status === 403 ? 'denied' : 'error';
    const writing = this.#readInput().then((input) => this.#write(status, failure ? outcomeOf(failure) : {}, input));
    if (isChange) await writing;
  }

  async #readInput(): Promise<Record<string, unknown>> {
    const input = await this.#request.getRawInput().catch(() => undefined);
    return typeof input === 'object' && input !== null && !Array.isArray(input) ? { ...input } : {};
  }

  async #write(status: AuditStatus, outcome: Record<string, unknown>, input: Record<string, unknown>): Promise<void> {
    const { ctx, actor, permission, isChange, meta } = this.#request;
    const { app } = ctx;
    try {
      const { method, path, firstId, rest } = this.#locate(input);
      const sent =
        Object.keys(rest).length === 0
          ? {}
          : { [isChange || meta?.openapi?.method !== 'GET' ? 'request_body' : 'query_params']: rest };
      const token = actor.kind === 'token' ? { api_token_id: actor.tokenId } : {};
      const { resourceId, before, after } = this.#facts;
      const changed = { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
      const entry: AuditEntry = {
        ...(actor.kind === 'admin' ? { userId: actor.userId } : { userId: null, actorName: `API: ${actor.name}` }),
        action: permission,
        resourceType: permission.split(':', 1)[0]!,
        resourceId: resourceId === undefined ? firstId : String(resourceId),
        details: auditDetails(app, { method, path, ...token, ...outcome, ...sent, ...(status === 'success' ? changed : {}) }),
        ipAddress: ctx.ip,
        userAgent: ctx.userAgent,
        status,
        requestMethod: method,
        requestPath: path,
        at: app.clock.now(),
      };
      await app.ports.audit.record(app.db, entry, isChange);
    } catch (error) {
      // Any failure: the answer does not change, because the operation is finished.
      app.log.error({ err: error, permission }, 'an audit row could not be made');
    }
  }

  /** Method and path of the request. A call over tRPC is recorded as its REST operation, with the path parameters filled in. */
  #locate(input: Record<string, unknown>): {
    method: string;
    path: string;
    firstId: string | null;
    rest: Record<string, unknown>;
  } {
    const { ctx, meta } = this.#request;
    const rest = { ...input };
    for (const name of meta?.audit?.hide ?? []) if (name in rest) rest[name] = REDACTED;
    let firstId: string | null = null;
    const filled = meta?.openapi?.path.replace(/\{([^}]+)\}/g, (placeholder, name: string) => {
      const key = meta.wire?.pathKeys?.[name] ?? name;
      const value = rest[key];
      delete rest[key];
      if (typeof value !== 'string' && typeof value !== 'number') return placeholder;
      firstId ??= String(value);
      return encodeURIComponent(String(value).toWellFormed());
    });
    const isRest = !ctx.request.path.startsWith('/trpc');
    if (isRest || !meta?.openapi || filled === undefined) return { ...ctx.request, firstId, rest };
    return { method: meta.openapi.method, path: filled, firstId, rest };
  }
}

/** Status and reason of the answer. */
function outcomeOf(http: HttpError): Record<string, unknown> {
  const { detail } = http.body;
  const reason = typeof detail === 'string' ? detail : Array.isArray(detail) ? 'Validation failed' : detail.message;
  return { status_code: http.status, reason: reason.replace(/^Permission denied: /, '') };
}
