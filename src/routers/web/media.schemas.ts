import { z } from 'zod';
import { isUploadedFile, type UploadedFile } from '../../core/http/uploads.ts';

/** Contract groups `media` and `Cabinet Media` (spec 05 section 10). */

export const MediaPath = z.object({ file_id: z.string() });

/** The override serves tools that read the metadata with trpc-to-openapi. */
export const FileField = z.custom<UploadedFile>(isUploadedFile).meta({ override: { type: 'string', format: 'binary' } });

export const UploadForm = z.object({
  file: FileField,
  media_type: z.string().default('document'),
  caption: z.string().nullish(),
});

export const MediaUploadResponse = z
  .object({
    media_type: z.string(),
    file_id: z.string(),
    file_unique_id: z.string().nullish(),
    media_url: z.string().nullish(),
  })
  .meta({ id: 'MediaUploadResponse' });
