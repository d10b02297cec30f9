import { z } from 'zod';
import { OBLIGATIONS } from '../domain/personal-data/types.ts';
import { Timestamp } from './shared.schemas.ts';

/** Requests for a person's data, of the groups `Cabinet Personal Data` and `Cabinet Admin Personal Data`; not in the contract. */

export const Obligation = z.enum(OBLIGATIONS);

export const DataRequestAnswer = z
  .object({
    id: z.int().describe('Id of the request.'),
    user_id: z.int().describe('Id of the account whose data are meant.'),
    kind: z.enum(['export', 'erasure']).describe('`export` (an archive of the data) or `erasure` of the account.'),
    state: z
      .enum(['requested', 'ready', 'expired', 'failed', 'running', 'done', 'cancelled'])
      .describe(
        'An export is `requested` (being written), `ready` (can be loaded), `expired` (deleted) or `failed`. An erasure is `requested` (waits until `due_at`), `running` (the account is erased, the panel and files follow), `done` or `cancelled`.',
      ),
    due_at: Timestamp.nullable().describe(
      'When the erasure is executed (UTC), later while something is open; null for an export.',
    ),
    size_bytes: z.int().nullable().describe('Size of the archive in bytes; null unless one was written.'),
    created_at: Timestamp.describe('When it was requested (UTC).'),
    finished_at: Timestamp.nullable().describe('When the archive was written or the erasure ended (UTC); null before.'),
    expires_at: Timestamp.nullable().describe('When the archive is deleted (UTC); null unless one was written.'),
  })
  .meta({ id: 'DataRequest' });

export const DataRequestPath = z.object({ request_id: z.int().describe('Id of the request.') });

export const ArchiveLinkResponse = z
  .object({
    url: z.string().describe('Address of the archive (tar, gzip), which needs no credential.'),
    expires_at: Timestamp.describe('When the address stops working (UTC), after 15 minutes.'),
  })
  .meta({ id: 'ArchiveLinkResponse' });

const Confirmation = z
  .literal('ERASE')
  .describe('The word `ERASE`, as the person typed it: that this cannot be undone was read.');
const ForfeitBalance = z.boolean().default(false).describe('Whether the present balance is given up.');
const EndSubscription = z.boolean().default(false).describe('Whether a running paid subscription may end without a refund.');

export const ErasureRequest = z
  .object({ confirmation: Confirmation, forfeit_balance: ForfeitBalance, end_subscription: EndSubscription })
  .meta({ id: 'ErasureRequest', example: { confirmation: 'ERASE', forfeit_balance: true, end_subscription: false } });
