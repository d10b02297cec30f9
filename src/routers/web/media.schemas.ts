import { z } from 'zod';
import { isUploadedFile, type UploadedFile } from '../../core/http/uploads.ts';

/** Contract groups `media` and `Cabinet Media`. */

export const MediaPath = z.object({ file_id: z.string().describe('Id of the file, signed or not.') });

/** The override is how the document shows a file. */
export const FileField = z.custom<UploadedFile>(isUploadedFile).meta({ override: { type: 'string', format: 'binary' } });

export const UploadForm = z.object({
  file: FileField.describe('The file.'),
  media_type: z.string().default('document').describe('Kind of the file: `photo`, `video` or `document`, in any case.'),
  caption: z
    .string()
    .nullish()
    .describe('Text under the file in the chat of the administrators, in the HTML of the messenger; null for none.'),
});

export const MediaUploadResponse = z
  .object({
    media_type: z.string().describe('Kind of the file: `photo`, `video` or `document`.'),
    file_id: z
      .string()
      .describe('Id of the file; in answers of the cabinet signed, so that it is valid for a limited time only.'),
    file_unique_id: z.string().nullish().describe("The messenger's lasting id of the file; null when it was not sent there."),
    media_url: z.string().nullish().describe('Address where the file can be loaded with an API token.'),
  })
  .meta({ id: 'MediaUploadResponse' });
