/** Tickets as both cabinet areas and the Web API show them. */
import { pageCount } from '../../core/paging.ts';
import { titleOf } from '../../domain/tickets/rules.ts';
import type { Ticket, TicketListItem } from '../../domain/tickets/types.ts';

/** A ticket without a title is shown with its number. */
export function withTitle<T extends Ticket>(ticket: T): T {
  return { ...ticket, title: titleOf(ticket) };
}

/** A page of the list, with the owners as `user` for administrators. */
export function ticketPage(
  found: { items: readonly TicketListItem[]; total: number },
  { page, perPage }: { page: number; perPage: number },
) {
  const items = found.items.map((item) => ({ ...withTitle(item), user: item.owner }));
  return { items, total: found.total, page, perPage, pages: pageCount(found.total, perPage) };
}
