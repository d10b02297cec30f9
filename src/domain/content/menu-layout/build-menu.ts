import { fill } from '../../messaging/texts.ts';
import { areConditionsMet, buttonOf, isVisibleTo } from './rules.ts';
import type { ButtonType, MenuButton, MenuContext, MenuDocument } from './types.ts';

export interface MenuItem {
  text: string;
  action: string;
  type: ButtonType;
}

/** The rows of buttons that the user sees: filtered, in order, split by the width of each row (spec 05 section 7.2). */
export function buildMenu(document: MenuDocument, context: MenuContext): MenuItem[][] {
  return document.rows
    .filter((row) => areConditionsMet(row.conditions, context))
    .flatMap((row) => {
      const items = row.buttons.flatMap((id) => {
        const button = buttonOf(document, id);
        return button && isShown(id, button, context) ? itemOf(button, context) : [];
      });
      return chunk(items, row.max_per_row);
    });
}

function isShown(id: string, button: MenuButton, context: MenuContext): boolean {
  const builtin = button.type === 'builtin' ? (button.builtin_id ?? id) : null;
  return (
    button.enabled &&
    isVisibleTo(button.visibility, context) &&
    areConditionsMet(button.conditions, context) &&
    (builtin !== 'buy_traffic' || context.isTrafficTopupOffered)
  );
}

/** A button without text is left out, because the messenger would refuse the whole keyboard. */
function itemOf(button: MenuButton, context: MenuContext): MenuItem[] {
  const { text } = button;
  const localised = Object.hasOwn(text, context.language) ? text[context.language] : undefined;
  const pattern = localised ?? text.en ?? Object.values(text)[0] ?? '';
  const label = button.dynamic_text ? fill(pattern, context.placeholders, String) : pattern;
  return label.trim() === '' ? [] : [{ text: label, action: button.action, type: button.type }];
}

function chunk<T>(items: readonly T[], size: number): T[][] {
  const rows: T[][] = [];
  for (let start = 0; start < items.length; start += size) rows.push(items.slice(start, start + size));
  return rows;
}
