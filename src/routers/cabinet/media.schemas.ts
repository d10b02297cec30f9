import { z } from 'zod';
import { FileField } from '../web/media.schemas.ts';

/** Contract group `Cabinet Media` (spec 05 section 10). */

export const CabinetUploadForm = z.object({ file: FileField, media_type: z.string().default('photo') });

export const CabinetMediaMediaUploadResponse = z
  .object({
    media_type: z.string(),
    file_id: z.string(),
    file_unique_id: z.string().nullish(),
    media_url: z.string(),
  })
  .meta({ id: 'CabinetMediaMediaUploadResponse' });
