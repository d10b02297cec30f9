import type { App } from '../../core/app.ts';
import type { StoredLayout } from '../../domain/content/menu-layout/types.ts';

type Writable<T> = T extends object ? { -readonly [K in keyof T]: Writable<T[K]> } : T;

/** A copy of a document for an answer, because documents are read-only. */
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
