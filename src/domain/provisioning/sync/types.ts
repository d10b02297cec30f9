import type { Rows } from '../../../core/db/columns.ts';
import type { PanelColumns } from '../../subscription-state/types.ts';
import type { PanelUser } from '../ports.ts';

type RunRow = Rows['PanelSyncRun'];

export type SyncKind = RunRow['kind'];

/** Users that a run from the panel processes: all, only unknown ones, or only known ones. */
export type SyncMode = NonNullable<RunRow['mode']>;

/** Steps of a run; each kind has its own order. */
export type SyncPhase = 'read' | 'apply' | 'absent' | 'push' | 'validate' | 'servers';

/** Where the next batch starts. */
export interface SyncCursor {
  phase: SyncPhase;
  /** Offset of the next page of the panel's list. */
  start: number;
  /** When the reading of the panel's list began, ISO 8601; null before. */
  readAt: string | null;
  /** Times the list was read again because it was incomplete. */
  restarts: number;
  /** The list is the panel's complete list. */
  isComplete: boolean;
  /** The list is not empty. Only then do users who are not in a complete list count as absent. */
  hasUsers: boolean;
  /** Last panel uuid, subscription or user that was processed in the phase. */
  after: string;
  /** The share of absent users was checked and is small enough. */
  isShareChecked: boolean;
  /** Failures of the panel in a row. */
  trouble: number;
  /** Of the phase; null before its first batch, and in phases that do not count. */
  progress?: SyncProgress | null;
}

/** Users or subscriptions that a phase has worked on, of so many. */
export interface SyncProgress {
  done: number;
  total: number;
}

/** Why a panel user was not imported. Another panel user of the same account is no such case. */
export type SkipReason = 'no_messenger_id_and_no_email' | 'email_not_confirmed_here' | 'email_too_long';

/** A panel user that a run from the panel did not import. */
export interface SkippedUser {
  panelUuid: string;
  username: string;
  reason: SkipReason;
}

export interface SyncCounts {
  created: number;
  updated: number;
  deleted: number;
  errors: number;
  checked: number;
  fixed: number;
  issuesFound: number;
  /** Users in the panel's list. */
  listed: number;
}

interface ServerCounts {
  created: number;
  updated: number;
  removed: number;
  total: number;
}

/** The panel users that were not imported: how many by reason, and the first of them by uuid. */
export interface SkippedUsers {
  counts: Partial<Record<SkipReason, number>>;
  users: SkippedUser[];
}

/** Why a run disabled nothing. */
export type SyncRefusal = 'incomplete_list' | 'too_many_absent';

/** `error` is safe to show. */
export interface SyncRun
  extends Pick<RunRow, 'id' | 'kind' | 'mode' | 'reason' | 'status' | 'error' | 'startedAt' | 'finishedAt'> {
  cursor: SyncCursor;
  counts: SyncCounts;
  servers: ServerCounts | null;
  /** Null = none. */
  skipped: SkippedUsers | null;
  refusal: SyncRefusal | null;
}

/** A user of the panel as this run read it. */
export interface SnapshotEntry {
  user: PanelUser;
  /** Just before its page was requested: local changes after this are newer. */
  readAt: Date;
}

/** What a synchronisation reads of a local subscription. */
export interface SyncedSubscription
  extends PanelColumns,
    Pick<Rows['Subscription'], 'id' | 'lastWebhookUpdateAt' | 'provisionRequestedAt' | 'provisionedAt'> {
  /** A change of the service waits for its push, or is being pushed. */
  isPushDue: boolean;
}

/** A local account that a user of the panel may belong to. */
export interface SyncedUser extends Pick<Rows['User'], 'id' | 'messengerId' | 'status' | 'vpnpanelUuid'> {
  subscription: SyncedSubscription | null;
}
