import { z } from 'zod';
import { SECOND_MS } from '../../core/clock.ts';
import { refusal, rethrowUnavailable } from '../../core/errors.ts';
import { FORM_REFUSALS } from '../../core/http/request-refusals.ts';
import { limitOrRefuse, tooManyRequests } from '../../core/rate-limit.ts';
import { authorizeAdmin } from '../../domain/access/effective-access.ts';
import { identifyAdmin } from '../../domain/identity/authenticate.ts';
import {
  CABINET_MAX_BYTES,
  fileEmpty,
  idsForReader,
  mediaNotFound,
  type Reader,
  readFileInCabinet,
} from '../../domain/media/media.ts';
import { filesTooLarge, mediaTypeUnknown, tooManyFiles, uploadAsUser } from '../../domain/media/upload-media.ts';
import { publicBase } from '../../domain/messaging/send-message.ts';
import type { Context } from '../context.ts';
import { downloadReply } from '../media-download.ts';
import { cabinetProcedure, publicProcedure, router } from '../trpc.ts';
import { FileField, MediaPath } from '../web/media.schemas.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Cabinet Media`. */

const CabinetUploadForm = z.object({
  file: FileField.describe('The file.'),
  media_type: z.string().default('photo').describe('Kind of the file: `photo`, `video` or `document`, in any case.'),
});

const CabinetMediaMediaUploadResponse = z
  .object({
    media_type: z.string().describe('Kind of the file: `photo`, `video` or `document`.'),
    file_id: z
      .string()
      .describe('Id of the file; in answers of the cabinet signed, so that it is valid for a limited time only.'),
    file_unique_id: z.string().nullish().describe("The messenger's lasting id of the file; null when it was not sent there."),
    media_url: z.string().describe('Address where the file can be loaded without a credential, for a limited time.'),
  })
  .meta({ id: 'CabinetMediaMediaUploadResponse' });

const FILE_TOO_LARGE = refusal('file_too_large', 400, 'File too large. Maximum size: 10MB');

const tags: [string] = ['Cabinet Media'];

/** Uploads of a user in ten minutes (spec 05 section 10, hazard e). */
const UPLOADS = 20;
const UPLOADS_SECONDS = 600;
const PUBLIC_CACHE = 'public, max-age=86400';

export const cabinetMediaRouter = router({
  upload: cabinetProcedure
    // Before the form is read.
    .use(async ({ ctx, next }) => {
      await limitOrRefuse(ctx.app, `media-upload:${ctx.actor.userId}`, UPLOADS, UPLOADS_SECONDS);
      return next();
    })
    .meta({
      openapi: { method: 'POST', path: '/cabinet/media/upload', tags, summary: 'Upload a file' },
      description:
        'Stores a private file of up to 10 MB as form data, for a ticket or, as an administrator, for broadcasts and pinned messages. The content decides what it is: images, videos, PDF, DOCX, XLSX, ZIP, GZIP and plain text are taken, with the matching `media_type`. 20 uploads in ten minutes are allowed, and so many files and megabytes altogether as `MEDIA_FILES_PER_USER` and `MEDIA_MEGABYTES_PER_USER` say; neither limits the sum for administrators. A file that nothing refers to is deleted after `MEDIA_UNUSED_DAYS` days.',
      refuses: [...FORM_REFUSALS, fileEmpty, filesTooLarge, mediaTypeUnknown, tooManyFiles, tooManyRequests, FILE_TOO_LARGE],
      wire: {
        multipart: {
          fileKey: 'file',
          maxBytes: CABINET_MAX_BYTES,
          tooLarge: FILE_TOO_LARGE,
        },
      },
    })
    .input(fromWire(CabinetUploadForm))
    .output(toWire(CabinetMediaMediaUploadResponse))
    .mutation(async ({ ctx, input }) => {
      const { file, mediaType } = input;
      const upload = { kind: mediaType, filename: file.filename, content: file.content, caption: null };
      const { file: stored, fileUniqueId } = await uploadAsUser(ctx.app, ctx.actor.userId, upload);
      const fileId = (await idsForReader(ctx.app, [stored.fileId]))(stored.fileId);
      const mediaUrl = `${ctx.baseUrl ?? publicBase(ctx.app)}/cabinet/media/${encodeURIComponent(fileId)}`;
      return { mediaType: stored.mediaType, fileId, fileUniqueId, mediaUrl };
    }),

  download: publicProcedure('cabinet')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/media/{file_id}', tags, summary: 'Download a file' },
      description:
        'Returns the content of a file. No credential is needed for a public file, nor for a private one with a signed id, as uploads and tickets return them; a signed id expires (`MEDIA_LINK_MINUTES`). By its plain id a private file is returned to its uploader and to administrators only. Images and videos are shown in place, everything else is a download. A `Range` of bytes is answered with 206.',
      refuses: [mediaNotFound],
      wire: { reply: 'file' },
    })
    .input(fromWire(MediaPath))
    .output(z.unknown())
    .query(async ({ ctx, input }) => {
      const file = await readFileInCabinet(ctx.app, input.fileId, () => readerOf(ctx));
      return downloadReply(file, cacheControl(file, ctx.app.clock.now()));
    }),
});

/** A private file is kept by the browser alone, and no longer than its link is valid. */
function cacheControl({ isPrivate, expiresAt }: { isPrivate: boolean; expiresAt: Date | null }, now: Date): string {
  if (!isPrivate) return PUBLIC_CACHE;
  const seconds = expiresAt ? Math.floor((expiresAt.getTime() - now.getTime()) / SECOND_MS) : 0;
  return `private, max-age=${seconds}`;
}

/** Who sent the request. No credential is needed here, so a bad one counts as none. */
async function readerOf({ app, credentials, ip }: Context): Promise<Reader> {
  const nobody = { userId: null, isAdministrator: false };
  if (credentials.bearer === null) return nobody;
  const found = await identifyAdmin(app, credentials).catch((error: unknown) => {
    rethrowUnavailable(error);
    return null;
  });
  if (!found) return nobody;
  const { user, actor } = found;
  const client = { ip, session: actor.session ?? null };
  const isAdministrator = await authorizeAdmin(app, user, 'tickets:read', client).then(
    () => true,
    (error: unknown) => {
      rethrowUnavailable(error);
      return false;
    },
  );
  return { userId: user.id, isAdministrator };
}
