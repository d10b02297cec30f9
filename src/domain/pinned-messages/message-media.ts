import type { App } from '../../core/app.ts';
import { countCharacters } from '../../core/characters.ts';
import { ValidationError } from '../../core/errors.ts';
import { validationIssue } from '../../core/validation-messages.ts';
import { recordReceived, storedFileId } from '../media/known-files.ts';
import type { PinnedMedia, PinnedMessage } from './types.ts';

/** Longest id of a file that can be stored. */
const MAX_FILE_ID = 255;

/** @throws ValidationError 422 a blank id, or one of more than 255 characters */
export function checkFileId({ fileId }: PinnedMedia): void {
  const loc = ['body', 'media', 'file_id'];
  if (fileId.trim() === '') throw new ValidationError([validationIssue('string_too_short', loc, fileId, { min_length: 1 })]);
  if (countCharacters(fileId) > MAX_FILE_ID) {
    throw new ValidationError([validationIssue('string_too_long', loc, fileId, { max_length: MAX_FILE_ID })]);
  }
}

/** The file of a message as it is stored; the file is known from then on. In a transaction. */
export async function storedMedia(t: App, media: PinnedMedia): Promise<Pick<PinnedMessage, 'mediaType' | 'mediaFileId'>> {
  const fileId = await storedFileId(t, media.fileId.trim());
  await recordReceived(t, fileId, media.type, 'pinned');
  return { mediaType: media.type, mediaFileId: fileId };
}
