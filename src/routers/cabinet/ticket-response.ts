/** Tickets as both cabinet areas and the Web API show them. */
import type { App } from '../../core/app.ts';
import { pageCount } from '../../core/paging.ts';
import { idsForReader } from '../../domain/media/known-files.ts';
import { titleOf } from '../../domain/tickets/rules.ts';
import type { Ticket, TicketListItem } from '../../domain/tickets/types.ts';

/** A ticket without a title is shown with its number. */
export function withTitle<T extends Ticket>(ticket: T): T {
  return { ...ticket, title: titleOf(ticket) };
}

/**
 * A ticket or a message as a reader in the cabinet gets it: ids of private files are signed, because clients make the address of a file
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

/** A page of the list, with the owners as `user` for administrators. */
export function ticketPage(
  found: { items: readonly TicketListItem[]; total: number },
  { page, perPage }: { page: number; perPage: number },
) {
  const items = found.items.map((item) => ({ ...withTitle(item), user: item.owner }));
  return { items, total: found.total, page, perPage, pages: pageCount(found.total, perPage) };
}
