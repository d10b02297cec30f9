import { useMemo, useSyncExternalStore } from 'react';

/** The address of a view is in the hash (`#/tickets/12`): a reload keeps the view, and the browser's back button works. */
export const VIEWS = [
  'overview',
  'tariffs',
  'renewal',
  'devices',
  'servers',
  'traffic',
  'balance',
  'gifts',
  'wheel',
  'polls',
  'contests',
  'referral',
  'tickets',
  'notifications',
  'account',
  'my-data',
] as const;

export type View = (typeof VIEWS)[number];

export interface Route {
  view: View;
  /** What follows the view, for example the id of a ticket. */
  argument: string | null;
}

/** Unknown addresses are those of the overview. */
export function readRoute(hash: string): Route {
  const [view, argument] = hash.replace(/^#\/?/, '').split('/');
  const known = VIEWS.find((name) => name === view);
  return { view: known ?? 'overview', argument: known && argument ? decodeURIComponent(argument) : null };
}

export function addressOf(view: View, argument?: string | number): string {
  return argument === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(argument)}`;
}

export function openView(view: View, argument?: string | number): void {
  location.hash = addressOf(view, argument);
}

function subscribe(onChange: () => void): () => void {
  addEventListener('hashchange', onChange);
  return () => removeEventListener('hashchange', onChange);
}

/** Also follows a change between the first rendering and the subscription. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => readRoute(hash), [hash]);
}
