import type { z } from 'zod';
import type { AdminActor, TokenActor } from '../core/actor.ts';
import { migrateSquad, previewMigration } from '../domain/provisioning/migration/migrate-squad.ts';
import type { MigrationStats } from '../domain/provisioning/migration/types.ts';
import { requirePanel } from '../domain/provisioning/panel-access.ts';
import { recommendSync } from '../domain/provisioning/sync/recommend.ts';
import { startSync } from '../domain/provisioning/sync/start-sync.ts';
import type { ProcedureFor, ReaderFor } from './trpc.ts';
import { toMigration, toRecommendation, toSync } from './vpnpanel-sync-wire.ts';
import {
  MigrationPath,
  type VpnPanelSquadMigrationPreviewResponse,
  type VpnPanelSquadMigrationRequest,
  type VpnPanelSyncFromPanelRequest,
} from './web/vpnpanel-sync.schemas.ts';
import { fromWire, toWire, type WireParser } from './wire.ts';

type Base = ProcedureFor<TokenActor | AdminActor>;

/** Operations that answer with the data of a run. */
type SyncOperation = 'fromPanel' | 'toPanel' | 'validate' | 'cleanup' | 'statuses' | 'recommendations';

interface Group<Sync, Migration> {
  reading: ReaderFor<TokenActor | AdminActor>;
  managing: Base;
  syncing: Base;
  base: '/vpnpanel' | '/cabinet/admin/vpnpanel';
  tag: string;
  /** Answers 503 to a preview without a configured panel. */
  previewNeedsPanel: boolean;
  /** The same shapes have other component names in each area. */
  schemas: {
    preview: typeof VpnPanelSquadMigrationPreviewResponse;
    migrationRequest: typeof VpnPanelSquadMigrationRequest;
    fromPanelRequest: typeof VpnPanelSyncFromPanelRequest;
    migration: Migration;
    sync: Sync;
  };
}

/** An answer with its text under the names of both areas; the schema of the area has one of them. */
interface SyncAnswer {
  success: boolean;
  detail: string;
  message: string;
  /** Checked against the operation's schema when the answer is made. */
  data: object | null;
}

interface MigrationAnswer extends SyncAnswer {
  error: string | null;
  data: MigrationStats;
}

const withText = <T extends { text: string }>({ text, ...answer }: T) => ({ ...answer, detail: text, message: text });

/** Synchronisation and squad migration, which the Web API and the administration have alike (spec 06 sections 10 and 11). */
export function vpnpanelSyncProcedures<Sync extends Record<SyncOperation, z.ZodType>, Migration extends z.ZodType>(
  group: Group<Sync, Migration>,
) {
  const { reading, managing, syncing, base, previewNeedsPanel, schemas } = group;
  const tags: [string] = [group.tag];
  // The codec drops the name of the text that the schema does not have.
  const syncAnswer = <Operation extends SyncOperation>(operation: Operation) =>
    toWire(schemas.sync[operation]) as unknown as WireParser<SyncAnswer, z.output<Sync[Operation]>>;
  const migrationAnswer = toWire(schemas.migration) as unknown as WireParser<MigrationAnswer, z.output<Migration>>;
  return {
    migrationPreview: reading
      .meta({
        openapi: {
          method: 'GET',
          path: `${base}/squads/{squad_uuid}/migration-preview`,
          tags,
          summary: 'Preview the migration of a squad',
        },
      })
      .input(fromWire(MigrationPath))
      .output(toWire(schemas.preview))
      .query(({ ctx, input }) => {
        if (previewNeedsPanel) requirePanel(ctx.app);
        return previewMigration(ctx.app, input.squadUuid);
      }),

    migrate: managing
      .meta({
        openapi: { method: 'POST', path: `${base}/squads/migrate`, tags, summary: 'Move subscriptions to another squad' },
      })
      .input(fromWire(schemas.migrationRequest))
      .output(migrationAnswer)
      .mutation(async ({ ctx, input }) => withText(toMigration(await migrateSquad(ctx.app, ctx.actor, input)))),

    fromPanel: syncing
      .meta({ openapi: { method: 'POST', path: `${base}/sync/from-panel`, tags, summary: 'Take over the data of the panel' } })
      .input(schemas.fromPanelRequest)
      .output(syncAnswer('fromPanel'))
      .mutation(async ({ ctx, input }) =>
        withText(toSync(await startSync(ctx.app, ctx.actor, { kind: 'from_panel', mode: input.mode }))),
      ),

    toPanel: syncing
      .meta({ openapi: { method: 'POST', path: `${base}/sync/to-panel`, tags, summary: 'Update the panel from the service' } })
      .output(syncAnswer('toPanel'))
      .mutation(async ({ ctx }) => withText(toSync(await startSync(ctx.app, ctx.actor, { kind: 'to_panel' })))),

    validate: syncing
      .meta({
        openapi: {
          method: 'POST',
          path: `${base}/sync/subscriptions/validate`,
          tags,
          summary: 'Repair invalid subscriptions',
        },
      })
      .output(syncAnswer('validate'))
      .mutation(async ({ ctx }) => withText(toSync(await startSync(ctx.app, ctx.actor, { kind: 'validate' })))),

    cleanup: syncing
      .meta({
        openapi: {
          method: 'POST',
          path: `${base}/sync/subscriptions/cleanup`,
          tags,
          summary: 'Disable subscriptions without a panel user',
        },
      })
      .output(syncAnswer('cleanup'))
      .mutation(async ({ ctx }) => withText(toSync(await startSync(ctx.app, ctx.actor, { kind: 'cleanup' })))),

    statuses: syncing
      .meta({
        openapi: {
          method: 'POST',
          path: `${base}/sync/subscriptions/statuses`,
          tags,
          summary: 'Take over statuses from the panel',
        },
      })
      .output(syncAnswer('statuses'))
      .mutation(async ({ ctx }) => withText(toSync(await startSync(ctx.app, ctx.actor, { kind: 'statuses' })))),

    recommendations: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/sync/recommendations`, tags, summary: 'Recommend a synchronisation' },
      })
      .output(syncAnswer('recommendations'))
      .query(async ({ ctx }) => withText(toRecommendation(await recommendSync(ctx.app)))),
  };
}
