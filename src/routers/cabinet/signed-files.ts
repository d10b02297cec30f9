import type { App } from '../../core/app.ts';
import { idsForReader } from '../../domain/media/media.ts';

/**
 * An answer with files as a reader in the cabinet gets it: ids of private files are signed, because clients make the address of a file
 * from its id.
 */
export async function withFiles<T extends object>(app: App, answer: T): Promise<T> {
  const signed = await idsForReader(app, [...new Set(fileIdsIn(answer))]);
  return replaceFileIds(answer, signed);
}

/** The messages of an answer: itself, in `messages`, `last_message` or `items`. */
interface MayHaveFiles {
  mediaFileId?: string | null;
  lastMessage?: MayHaveFiles | null;
  messages?: readonly MayHaveFiles[];
  items?: readonly MayHaveFiles[];
}

function fileIdsIn({ mediaFileId, lastMessage, messages = [], items = [] }: MayHaveFiles): string[] {
  const inner = [...(lastMessage ? [lastMessage] : []), ...messages, ...items];
  return [...(mediaFileId ? [mediaFileId] : []), ...inner.flatMap(fileIdsIn)];
}

function replaceFileIds<T extends object>(answer: T, signed: (fileId: string) => string): T {
  const { mediaFileId, lastMessage, messages, items } = answer as MayHaveFiles;
  return {
    ...answer,
    ...(mediaFileId ? { mediaFileId: signed(mediaFileId) } : {}),
    ...(lastMessage ? { lastMessage: replaceFileIds(lastMessage, signed) } : {}),
    ...(messages ? { messages: messages.map((message) => replaceFileIds(message, signed)) } : {}),
    ...(items ? { items: items.map((item) => replaceFileIds(item, signed)) } : {}),
  };
}
