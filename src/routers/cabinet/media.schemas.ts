import { z } from 'zod';
import { FileField } from '../web/media.schemas.ts';

/** Contract group `Cabinet Media` (spec 05 section 10). */

export const CabinetUploadForm = z.object({
  file: FileField.describe('The file.'),
  media_type: z.string().default('photo').describe('Kind of the file: `photo`, `video` or `document`, in any case.'),
});

export const CabinetMediaMediaUploadResponse = z
  .object({
    media_type: z.string().describe('Kind of the file: `photo`, `video` or `document`.'),
    file_id: z
      .string()
      .describe('Id of the file; in answers of the cabinet signed, so that it is valid for a limited time only.'),
    file_unique_id: z.string().nullish().describe("The messenger's lasting id of the file; null when it was not sent there."),
    media_url: z.string().describe('Address where the file can be loaded without a credential, for a limited time.'),
  })
  .meta({ id: 'CabinetMediaMediaUploadResponse' });
