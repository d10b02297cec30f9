import type { RowOf } from '../../core/db/columns.ts';
import type { TOKEN } from './token-repo.ts';

/** An API token as the interface shows it; the token's text exists only in the answer that creates it. */
export type ApiToken = RowOf<typeof TOKEN>;

export type { Assignment } from './assignment-repo.ts';

/** `success`: done. `denied`: refused for missing permissions (403). `error`: refused otherwise, or failed. */
export type AuditStatus = 'success' | 'denied' | 'error';

/** One administrative request as the audit log stores it; `details` has no secrets. */
export interface AuditEntry {
  /** Null for an API token, which `actorName` and the details name. */
  userId: number | null;
  /** Name of an actor who is not a user; the name of a user is read when the row is written. */
  actorName?: string;
  /** The permission that the request needed or, for an API token, that an administrator would need. */
  action: string;
  /** Section of the permission. */
  resourceType: string;
  resourceId: string | null;
  details: Record<string, unknown>;
  ipAddress: string | null;
  userAgent: string | null;
  status: AuditStatus;
  requestMethod: string;
  /** Without the query. */
  requestPath: string;
  at: Date;
}
