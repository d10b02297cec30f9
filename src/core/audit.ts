/** What one administrative request changed, beside who asked for what; secrets are taken out when the row is made. */
export interface AuditFacts {
  /** Id of the thing that was changed, when the request's path does not name it. */
  resourceId?: string | number;
  /** The thing before the change; null = it did not exist. */
  before?: unknown;
  /** The thing after the change; null = it is gone. */
  after?: unknown;
}

/** Collects facts for the audit row of the request that runs; a later fact replaces an earlier one of its name. */
export interface AuditRecorder {
  record(facts: AuditFacts): void;
}
