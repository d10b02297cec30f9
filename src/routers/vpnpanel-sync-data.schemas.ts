import { z } from 'zod';
import { Timestamp } from './shared.schemas.ts';

/** Data of the answers of panel synchronisations, alike in both areas; the contract leaves them free-form. */

/** How far the phase of a run is, in users or subscriptions. */
const Progress = z.object({ phase: z.string(), done: z.int(), total: z.int() });

/** Fields of a run that continues in the background; the counters are its counters so far. */
export const Running = { status: z.literal('running').optional(), run_id: z.int().optional(), progress: Progress.nullish() };

/** Users of the service that a run from the panel changed, and panel users that it could not import, which count as errors too. */
export const UserStats = z.object({
  created: z.int(),
  updated: z.int(),
  errors: z.int(),
  deleted: z.int(),
  skipped: z.int().optional(),
  skipped_users: z.object({ panel_uuid: z.string(), username: z.string(), reason: z.string() }).array().optional(),
});

/** Servers that a run changed, and how many squads the panel has. */
export const ServerStats = z.object({ created: z.int(), updated: z.int(), removed: z.int(), total: z.int() });

export const FromPanelStats = UserStats.extend(Running);

export const ToPanelStats = z.object({ created: z.int(), updated: z.int(), errors: z.int(), ...Running });

export const ValidationStats = z.object({ fixed: z.int(), errors: z.int(), checked: z.int(), issues_found: z.int(), ...Running });

export const CleanupStats = z.object({ deactivated: z.int(), errors: z.int(), checked: z.int(), ...Running });

export const StatusStats = z.object({ updated: z.int(), errors: z.int(), checked: z.int(), ...Running });

export const Recommendation = z.object({
  should_sync: z.boolean(),
  sync_type: z.enum(['none', 'all', 'update_only']),
  reasons: z.string().array(),
  priority: z.enum(['low', 'medium', 'high']),
  estimated_time: z.string(),
  running: z
    .object({ run_id: z.int(), kind: z.string(), started_at: Timestamp, progress: Progress.nullish() })
    .array()
    .optional(),
});
