import type { App } from '../../core/app.ts';
import type { StoredLayout } from '../../domain/content/menu-layout/types.ts';

type Writable<T> = T extends object ? { -readonly [K in keyof T]: Writable<T[K]> } : T;

/** A document for an answer: a copy, since answers are written by the caller and documents by nobody. */
export function toDocument<T>(document: T): Writable<T> {
  return structuredClone(document) as Writable<T>;
}

export function toLayout(app: App, layout: StoredLayout) {
  return {
    ...toDocument(layout.document),
    is_enabled: app.settings.get('MENU_LAYOUT_ENABLED'),
    updated_at: layout.updatedAt,
  };
}
