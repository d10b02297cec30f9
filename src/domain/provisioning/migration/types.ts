/** Counters of a squad migration (spec 06 section 10); they grow with each committed batch. */
export interface MigrationStats {
  sourceUuid: string;
  targetUuid: string;
  /** Subscriptions that held the source at the start. */
  total: number;
  /** Rows moved. */
  updated: number;
  /** Of those, how many the panel was told of. */
  panelUpdated: number;
  /** Left as they were, because the panel did not take the change. */
  panelFailed: number;
  sourceRemoved: number;
  /** Did not hold the target before. */
  targetAdded: number;
}

export type MigrationStatus = 'running' | 'completed' | 'failed';

export type MigrationError = 'same_squad' | 'not_found' | 'unexpected';

export interface MigrationRun {
  id: number;
  status: MigrationStatus;
  error: MigrationError | null;
  stats: MigrationStats;
}

/** A candidate whose turn it is, as it was read without a lock. */
export interface MigrationItem {
  subscriptionId: number;
  attempts: number;
  squads: string[];
  /** Null: the panel has nobody to tell about. */
  panelUuid: string | null;
  /** Changes whenever a push of the subscription is asked for or done. */
  provisionMark: string;
}

/** What became of telling the panel: `nobody` = there is no panel user, `absent` = it is gone, `failed` may work later. */
export type PanelOutcome = 'told' | 'nobody' | 'absent' | 'failed' | 'refused';
