/** What one administrative request changed. Who sent the request is stored with it; secrets are removed when the row is made. */
export interface AuditFacts {
  /** Id of the changed object, when the request's path does not name it. */
  resourceId?: string | number;
  /** The object before the change; null = it did not exist. */
  before?: unknown;
  /** The object after the change; null = it was deleted. */
  after?: unknown;
}

/** Collects facts for the audit row of the current request; a later fact replaces an earlier one of the same name. */
export interface AuditRecorder {
  record(facts: AuditFacts): void;
}
