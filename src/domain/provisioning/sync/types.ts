import type { SubscriptionStatus } from '../../subscriptions/types.ts';
import type { PanelUser } from '../ports.ts';

export type SyncKind = 'from_panel' | 'to_panel' | 'servers' | 'validate' | 'statuses' | 'cleanup' | 'auto';

/** What a run from the panel does: everything, only unknown users, or only known ones. */
export type SyncMode = 'all' | 'new_only' | 'update_only';

export type SyncStatus = 'running' | 'completed' | 'failed';

/** Steps of a run, in the order of its kind. */
export type SyncPhase = 'read' | 'apply' | 'absent' | 'push' | 'validate' | 'servers';

/** Where the next batch starts. */
export interface SyncCursor {
  phase: SyncPhase;
  /** Offset of the next page of the panel's list. */
  start: number;
  /** When the reading of the panel's list began, ISO 8601; null before. */
  readAt: string | null;
  /** Times the list was read again because it did not add up. */
  restarts: number;
  /** The list that was read is the panel's whole list, and not an empty one: who is not in it may be looked at as absent. */
  isComplete: boolean;
  /** Last panel uuid, subscription or user that was dealt with in the phase. */
  after: string;
  /** The share of absent users was looked at and found small enough. */
  isShareChecked: boolean;
  /** Failures of the panel in a row. */
  trouble: number;
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

export interface ServerCounts {
  created: number;
  updated: number;
  removed: number;
  total: number;
}

/** Why a run left out what it would have disabled. */
export type SyncRefusal = 'incomplete_list' | 'too_many_absent';

export interface SyncRun {
  id: number;
  kind: SyncKind;
  mode: SyncMode | null;
  reason: 'manual' | 'auto';
  status: SyncStatus;
  cursor: SyncCursor;
  counts: SyncCounts;
  servers: ServerCounts | null;
  refusal: SyncRefusal | null;
  /** Safe to show. */
  error: string | null;
  startedAt: Date;
  finishedAt: Date | null;
}

/** A user of the panel as this run read it. */
export interface SnapshotEntry {
  user: PanelUser;
  /** Just before its page was asked for: what changed here later is newer than it. */
  readAt: Date;
}

/** The columns that the panel's word may change. */
export interface PanelColumns {
  status: SubscriptionStatus;
  endDate: Date;
  trafficLimitGb: number;
  trafficUsedGb: number;
  deviceLimit: number;
  squads: string[];
  shortUuid: string | null;
  subscriptionUrl: string | null;
  cryptoLink: string | null;
}

/** What of a local subscription a synchronisation looks at. */
export interface SyncedSubscription extends PanelColumns {
  id: number;
  lastWebhookUpdateAt: Date | null;
  /** A change of ours that the panel has not taken yet, or is taking now. */
  isPushDue: boolean;
  requestedAt: Date | null;
  provisionedAt: Date | null;
}

/** A local account that a user of the panel may belong to. */
export interface SyncedUser {
  id: number;
  messengerId: number | null;
  status: string;
  panelUuid: string | null;
  subscription: SyncedSubscription | null;
}
