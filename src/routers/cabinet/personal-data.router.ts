import { z } from 'zod';
import { fileReply } from '../../core/http/http-client.ts';
import { tooManyRequests } from '../../core/rate-limit.ts';
import { freshSignInRequired } from '../../domain/identity/sessions/fresh-sign-in.ts';
import { DOWNLOAD_HEADERS } from '../../domain/media/media.ts';
import { archiveNotFound, archiveNotReady, openArchiveLink } from '../../domain/personal-data/archive-link.ts';
import { obligationsOpen } from '../../domain/personal-data/obligations.ts';
import {
  cancelMyErasure,
  dataRequestNotFound,
  erasureOfStaff,
  linkToMyArchive,
  personalDataOff,
  readMyData,
  requestMyErasure,
  requestMyExport,
} from '../../domain/personal-data/requests.ts';
import { ArchiveLinkResponse, DataRequestAnswer, DataRequestPath, ErasureRequest, Obligation } from '../personal-data.schemas.ts';
import { cabinetProcedure, publicProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Not in the contract: the person's archive and erasure (spec 01 section 4.9). */

const PersonalDataResponse = z
  .object({
    self_service: z
      .enum(['off', 'export', 'export_and_erasure'])
      .describe('What users may do themselves (`PERSONAL_DATA_SELF_SERVICE`): `off`, `export`, or `export_and_erasure`.'),
    erasure_days: z.int().describe('Days between the request and the erasure, in which it can be cancelled.'),
    balance_kopeks: z.int().describe('Balance that an erasure would give up, kopeks.'),
    obligations: Obligation.array().describe(
      'What stands against an erasure: `pending_withdrawal`, `pending_payment`, `waiting_approval` (of a change of the balance), `open_case` (a payment that is being clarified), `undelivered_purchase`; `balance` and `paid_subscription` can be confirmed.',
    ),
    export: DataRequestAnswer.nullable().describe('The newest request for an archive; null without one.'),
    erasure: DataRequestAnswer.nullable().describe('The newest request for an erasure; null without one.'),
  })
  .meta({ id: 'PersonalDataResponse' });

const ArchivePath = z.object({ link: z.string().max(64).describe('The last part of the `url` of a link.') });

const tags: [string] = ['Cabinet Personal Data'];
const base = '/cabinet/personal-data';

export const personalDataRouter = router({
  read: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: base, tags, summary: 'Own requests for data and erasure' },
      description: 'Answers what users may do themselves, the newest requests, and what stands against an erasure.',
    })
    .output(toWire(PersonalDataResponse))
    .query(({ ctx }) => readMyData(ctx.app, ctx.actor)),

  requestExport: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${base}/exports`, tags, summary: 'Request an archive of the own data' },
      description:
        'Requests an archive of everything that is stored about the account, which a job writes; the user is notified. Once a day. A repeat while one is being written answers that one. Needs a proof of who the user is that is at most 10 minutes old, or `FRESH_SIGN_IN_MINUTES`.',
      refuses: [personalDataOff, freshSignInRequired, tooManyRequests],
    })
    .output(toWire(DataRequestAnswer))
    .mutation(({ ctx }) => requestMyExport(ctx.app, ctx.actor)),

  link: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${base}/exports/{request_id}/link`, tags, summary: 'Address of the own archive' },
      description:
        'Makes an address at which the archive can be loaded without a credential for 15 minutes. Needs a recent proof, as the request. A repeat makes another one.',
      refuses: [dataRequestNotFound, freshSignInRequired, archiveNotReady],
    })
    .input(fromWire(DataRequestPath))
    .output(toWire(ArchiveLinkResponse))
    .mutation(({ ctx, input }) => linkToMyArchive(ctx.app, ctx.actor, input.requestId, ctx.baseUrl)),

  download: publicProcedure('cabinet')
    .meta({
      openapi: { method: 'GET', path: `${base}/archive/{link}`, tags, summary: 'Load an archive' },
      description:
        'Returns the archive of a link: a tar file with gzip, in it `data/TABLE-00001.ndjson` with one JSON object a line, `files/` and `contents.json`. The signed link is the credential.',
      refuses: [archiveNotFound],
      wire: { reply: 'file' },
    })
    .input(fromWire(ArchivePath))
    .output(z.unknown())
    .query(async ({ ctx, input }) => {
      const { name, sizeBytes, content } = await openArchiveLink(ctx.app, input.link);
      return fileReply({
        ...{ filename: name, contentType: 'application/gzip', body: content, contentLength: sizeBytes },
        headers: { ...DOWNLOAD_HEADERS, 'cache-control': 'private, no-store' },
      });
    }),

  requestErasure: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${base}/erasure`, tags, summary: 'Request the erasure of the own account' },
      description:
        'Requests the erasure of the account after `erasure_days`, until when it can be cancelled; the user is notified. Refused while money or obligations are open: a balance and a running subscription can be given up by the body. A repeat answers the open request. Needs a recent proof, as an export.',
      refuses: [personalDataOff, erasureOfStaff, freshSignInRequired, obligationsOpen],
    })
    .input(fromWire(ErasureRequest))
    .output(toWire(DataRequestAnswer))
    .mutation(({ ctx, input: { forfeitBalance: forfeitsBalance, endSubscription: endsSubscription } }) =>
      requestMyErasure(ctx.app, ctx.actor, { forfeitsBalance, endsSubscription }),
    ),

  cancelErasure: cabinetProcedure
    .meta({
      openapi: { method: 'DELETE', path: `${base}/erasure`, tags, summary: 'Cancel the erasure of the own account' },
      description: 'Cancels an erasure that was not executed yet; the user is notified. A repeat answers the same.',
      refuses: [dataRequestNotFound],
    })
    .output(toWire(DataRequestAnswer))
    .mutation(({ ctx }) => cancelMyErasure(ctx.app, ctx.actor)),
});
