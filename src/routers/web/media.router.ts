import { z } from 'zod';
import { refusal } from '../../core/errors.ts';
import { FORM_REFUSALS, rangeNotSatisfiable } from '../../core/http/request-refusals.ts';
import {
  fileEmpty,
  fileTypeRefused,
  mediaNotFound,
  mediaUnavailable,
  readFileAsToken,
  WEB_MAX_BYTES,
} from '../../domain/media/media.ts';
import { mediaNotStored, mediaTypeUnknown, uploadAsToken } from '../../domain/media/upload-media.ts';
import { publicBase } from '../../domain/messaging/send-message.ts';
import { downloadReply } from '../media-download.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import { MediaPath, MediaUploadResponse, UploadForm } from './media.schemas.ts';

const FILE_TOO_LARGE = refusal('file_too_large', 413, 'File too large. Maximum size: 50MB');

const tags: [string] = ['media'];

export const mediaRouter = router({
  upload: auditedWebProcedure('media:create')
    .meta({
      openapi: { method: 'POST', path: '/upload', tags, summary: 'Upload a file' },
      description:
        'Stores a file of up to 50 MB as form data and returns its id for tickets, broadcasts and pinned messages. The content decides what it is: images, videos, PDF, DOCX, XLSX, ZIP, GZIP and plain text are taken, with the matching `media_type`. Where `ADMIN_NOTIFICATIONS_CHAT_ID` or `ADMIN_IDS` names a chat, the file is shown there with the caption, and its id is that of the messenger. A file that nothing of the service refers to is deleted after `MEDIA_UNUSED_DAYS` days.',
      refuses: [...FORM_REFUSALS, fileEmpty, fileTypeRefused, mediaTypeUnknown, mediaNotStored, FILE_TOO_LARGE],
      wire: {
        multipart: {
          fileKey: 'file',
          maxBytes: WEB_MAX_BYTES,
          tooLarge: FILE_TOO_LARGE,
        },
      },
    })
    .input(fromWire(UploadForm))
    .output(toWire(MediaUploadResponse))
    .mutation(async ({ ctx, input }) => {
      const { file, mediaType, caption = null } = input;
      const upload = { kind: mediaType, filename: file.filename, content: file.content, caption };
      const stored = await uploadAsToken(ctx.app, upload);
      const { fileId, mediaType: kind } = stored.file;
      const mediaUrl = `${ctx.baseUrl ?? publicBase(ctx.app)}/media/${encodeURIComponent(fileId)}`;
      return { mediaType: kind, fileId, fileUniqueId: stored.fileUniqueId, mediaUrl };
    }),

  download: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/media/{file_id}', tags, summary: 'Download a file' },
      description:
        'Returns the content of a file that was uploaded, or that came with a ticket or a broadcast; every other id is unknown. Images and videos are shown in place, everything else is a download. A `Range` of bytes is answered with 206. May send requests to the messenger.',
      refuses: [mediaNotFound, mediaUnavailable, rangeNotSatisfiable],
      wire: { reply: 'file' },
    })
    .input(fromWire(MediaPath))
    .output(z.unknown())
    .query(async ({ ctx, input }) => downloadReply(await readFileAsToken(ctx.app, input.fileId), null)),
});
