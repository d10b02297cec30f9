import { countCharacters } from '../../../core/characters.ts';
import { refusal } from '../../../core/errors.ts';
import {
  BUTTON_STYLES,
  type ButtonLook,
  CABINET_SECTIONS,
  type CabinetMenu,
  type CabinetSection,
  cleanLabels,
  LABEL_LOCALES,
  MAX_LABEL,
} from './cabinet-menu-rules.ts';

export type SectionLooks = CabinetMenu['styles'];

/** Fields are named as they are stored and sent; absent and null leave a field as it is. */
export type LookChange = { readonly [Field in keyof ButtonLook]?: ButtonLook[Field] | null | undefined };
export type LookChanges = { readonly [Section in CabinetSection]?: LookChange | null | undefined };

/**
 * The looks with the changes of some sections (spec 05 section 8). Labels are replaced as a whole.
 * @throws AppError 400 for the first error, in the order of the sections
 */
export function withLooks(looks: SectionLooks, changes: LookChanges): SectionLooks {
  const after: Record<CabinetSection, ButtonLook> = { ...looks };
  for (const section of CABINET_SECTIONS) {
    const change = changes[section];
    if (change) after[section] = withLook(looks[section], change, section);
  }
  return after;
}

function withLook(before: ButtonLook, change: LookChange, section: CabinetSection): ButtonLook {
  const { style, icon_custom_emoji_id, enabled, labels } = change;
  if (typeof style === 'string' && !BUTTON_STYLES.includes(style)) {
    throw buttonLookInvalid(`Invalid style "${style}" for section "${section}". Allowed: ${BUTTON_STYLES.join(', ')}`);
  }
  for (const [locale, label] of Object.entries(labels ?? {})) {
    if (!LABEL_LOCALES.includes(locale)) {
      throw buttonLookInvalid(`Invalid locale "${locale}" for section "${section}". Allowed: ${LABEL_LOCALES.join(', ')}`);
    }
    if (countCharacters(label) > MAX_LABEL)
      throw buttonLookInvalid(`Label for locale "${locale}" exceeds ${MAX_LABEL} characters.`);
  }
  return {
    style: style ?? before.style,
    icon_custom_emoji_id: icon_custom_emoji_id?.trim() ?? before.icon_custom_emoji_id,
    enabled: enabled ?? before.enabled,
    labels: labels ? cleanLabels(labels) : before.labels,
  };
}

export const buttonLookInvalid = refusal(
  'button_look_invalid',
  400,
  'Invalid locale "uk" for section "subscription". Allowed: ru, en, ua, zh, fa',
  (detail: string) => ({ detail }),
);
