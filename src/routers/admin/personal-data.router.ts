import { z } from 'zod';
import { userNotFound } from '../../domain/identity/errors.ts';
import { TARGET_REFUSALS } from '../../domain/identity/find-user.ts';
import { archiveNotReady } from '../../domain/personal-data/archive-link.ts';
import { erasePerson } from '../../domain/personal-data/erase-person.ts';
import { obligationsOpen } from '../../domain/personal-data/obligations.ts';
import { listBackupsBefore } from '../../domain/personal-data/remaining-backups.ts';
import {
  dataRequestNotFound,
  linkToArchive,
  listDataRequests,
  requestExportOf,
  requireRequest,
} from '../../domain/personal-data/requests.ts';
import { ArchiveLinkResponse, DataRequestAnswer, DataRequestPath, ErasureRequest } from '../personal-data.schemas.ts';
import { Timestamp } from '../shared.schemas.ts';
import { adminProcedure, freshAdminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Not in the contract: archives and erasures of users, for administrators (spec 01 section 4.9). */

const UserPath = z.object({ user_id: z.int().describe('Id of the user whose data are meant.') });

const ListQuery = z.object({
  user_id: z.int().nullish().describe('Only requests about this user; null for all.'),
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of requests in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of requests to skip.'),
});

const AdminDataRequest = DataRequestAnswer.extend({
  requested_by: z.string().describe('Who asked for it: `user:17` (the person), `admin:3`, or `command line`.'),
}).meta({ id: 'AdminDataRequest' });

const DataRequestList = z
  .object({
    items: AdminDataRequest.array().describe('The requests, newest first.'),
    total: z.int().describe('Number of all requests that match.'),
  })
  .meta({ id: 'DataRequestList' });

const RemainingBackup = z
  .object({
    name: z.string().describe('File name of the backup.'),
    deleted_at: Timestamp.nullable().describe(
      'When it is deleted (UTC), if automatic backups go on as they are set; null when only their number is known.',
    ),
    further_backups: z.int().describe('After how many further backups of its kind it is deleted.'),
  })
  .meta({ id: 'RemainingBackup' });

const ErasePersonResponse = z
  .object({
    request: AdminDataRequest.describe('The request, `running` until the panel user and files are gone.'),
    backups: RemainingBackup.array().describe('Backups in the folder of the service that still have the person, newest first.'),
  })
  .meta({ id: 'ErasePersonResponse' });

const tags: [string] = ['Cabinet Admin Personal Data'];
const base = '/cabinet/admin/personal-data';

export const adminPersonalDataRouter = router({
  list: adminProcedure('personal_data:read')
    .meta({
      openapi: { method: 'GET', path: `${base}/requests`, tags, summary: 'Requests for data and erasures' },
      description: 'Lists requests for archives and erasures, also of accounts that are erased.',
    })
    .input(fromWire(ListQuery))
    .output(toWire(DataRequestList))
    .query(({ ctx, input }) => listDataRequests(ctx.app, input)),

  read: adminProcedure('personal_data:read')
    .meta({
      openapi: { method: 'GET', path: `${base}/requests/{request_id}`, tags, summary: 'One request' },
      description: 'Answers one request with its state.',
      refuses: [dataRequestNotFound],
    })
    .input(fromWire(DataRequestPath))
    .output(toWire(AdminDataRequest))
    .query(({ ctx, input }) => requireRequest(ctx.app, input.requestId)),

  link: freshAdminProcedure('personal_data:export')
    .meta({
      openapi: { method: 'POST', path: `${base}/requests/{request_id}/link`, tags, summary: 'Address of an archive' },
      description:
        'Makes an address at which the archive can be loaded without a credential for 15 minutes. A repeat makes another one. Administrators get none of their own rank or above.',
      refuses: [...TARGET_REFUSALS, userNotFound, dataRequestNotFound, archiveNotReady],
    })
    .input(fromWire(DataRequestPath))
    .output(toWire(ArchiveLinkResponse))
    .mutation(({ ctx, input }) => linkToArchive(ctx.app, ctx.actor, input.requestId, ctx.baseUrl)),

  requestExport: freshAdminProcedure('personal_data:export')
    .meta({
      openapi: { method: 'POST', path: `${base}/users/{user_id}/export`, tags, summary: 'Request an archive of a user' },
      description:
        'Requests an archive of everything that is stored about a user, which a job writes; the user is notified. A repeat while one is being written answers that one.',
      refuses: [...TARGET_REFUSALS, userNotFound],
    })
    .input(fromWire(UserPath))
    .output(toWire(AdminDataRequest))
    .mutation(({ ctx, input }) => requestExportOf(ctx.app, ctx.actor, input.userId)),

  erase: freshAdminProcedure('personal_data:erase')
    .meta({
      openapi: { method: 'POST', path: `${base}/users/{user_id}/erase`, tags, summary: 'Erase a user at once' },
      description:
        'Erases a user: names, identifiers, addresses, texts and files are deleted, the movements of money, tax receipts and counters stay without them. The panel user, contents of files and copies follow by a job, until they are gone. Refused while money or obligations are open, of which the body can confirm a balance and a running subscription. Cannot be undone; a repeat finds no user.',
      refuses: [...TARGET_REFUSALS, userNotFound, obligationsOpen],
    })
    .input(fromWire(withBody(UserPath, ErasureRequest)))
    .output(toWire(ErasePersonResponse))
    .mutation(async ({ ctx, input }) => {
      const { userId, forfeitBalance: forfeitsBalance, endSubscription: endsSubscription } = input;
      const request = await erasePerson(ctx.app, ctx.actor, userId, { forfeitsBalance, endsSubscription });
      return { request, backups: await listBackupsBefore(ctx.app, ctx.app.clock.now()) };
    }),
});
