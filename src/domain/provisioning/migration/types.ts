import type { Rows } from '../../../core/db/columns.ts';

type RunRow = Rows['SquadMigrationRun'];

/**
 * Counters of a squad migration (spec 06 section 10); they grow with each committed batch. `total`: subscriptions that had the source
 * at the start. `updated`: rows moved. `panelUpdated`: of those, users changed at the panel. `panelFailed`: rows not moved, because the
 * panel did not accept the change. `targetAdded`: rows that did not have the target before.
 */
export type MigrationStats = Pick<
  RunRow,
  'sourceUuid' | 'targetUuid' | 'total' | 'updated' | 'panelUpdated' | 'panelFailed' | 'sourceRemoved' | 'targetAdded'
>;

export type MigrationError = NonNullable<RunRow['error']>;

export interface MigrationRun extends Pick<RunRow, 'id' | 'status' | 'error'> {
  stats: MigrationStats;
}

/** A candidate of the next batch, read without a lock. Null `vpnpanelUuid`: there is no panel user to change. */
export interface MigrationItem extends Pick<Rows['SquadMigrationItem'], 'subscriptionId' | 'attempts'> {
  connectedSquads: string[];
  vpnpanelUuid: string | null;
  /** Changes whenever a push of the subscription is requested or done. */
  provisionMark: string;
}

/** Result of the update at the panel: `no_user` = none was linked, `absent` = the panel no longer has it, `failed` = to be retried. */
export type PanelOutcome = 'updated' | 'no_user' | 'absent' | 'failed' | 'refused';
