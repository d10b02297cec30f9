/** An API token as the interface shows it; the token's text exists only in the answer that creates it. */
export interface ApiToken {
  id: number;
  name: string;
  prefix: string;
  description: string | null;
  isActive: boolean;
  createdAt: Date;
  updatedAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  lastUsedIp: string | null;
  createdBy: string | null;
}

/** `success`: done. `denied`: refused for want of rights (403). `error`: refused otherwise, or failed. */
export type AuditStatus = 'success' | 'denied' | 'error';

/** One administrative request as the audit log keeps it; secrets have been taken out of `details`. */
export interface AuditEntry {
  /** Null = no person but an API token, which `actorName` and the details name. */
  userId: number | null;
  /** Name of an actor who is no user; a user's own name is taken down when the row is written. */
  actorName?: string;
  /** The permission that was asked for, or the one that an administrator would need. */
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
