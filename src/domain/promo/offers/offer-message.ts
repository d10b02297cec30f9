import type { App } from '../../../core/app.ts';
import { formatPrice } from '../../../core/money.ts';
import { findSquadsByUuid } from '../../catalog/find-squads.ts';
import type { MessengerButton } from '../../messaging/ports.ts';
import { htmlText, knownLanguage, text } from '../../messaging/texts.ts';
import {
  fieldRefused,
  fillMessage,
  givesTemporaryAccess,
  MAX_BUTTON_LENGTH,
  MAX_MESSAGE_LENGTH,
  temporaryAccessOf,
} from './rules.ts';
import type { OfferMessage, OfferTerms } from './types.ts';

/** Data of the buttons under an offer; `answer-in-messenger.ts` handles the presses. */
export const CLAIM_BUTTON = 'claim_discount_';
export const CLOSE_BUTTON = 'promo_offer_close';

/** A message about an offer in one language; `buttonsFor` puts the offer's id into the button that claims it. */
export interface RenderedMessage {
  html: string;
  buttonsFor: (offerId: number) => readonly (readonly MessengerButton[])[];
}

/** @throws ValidationError 422 for a message with filled placeholders or a button that is too long */
export async function checkMessage(app: App, message: OfferMessage, terms: OfferTerms): Promise<void> {
  const { html } = await renderMessage(app, message, terms, null);
  if (html.length > MAX_MESSAGE_LENGTH || (message.messageText?.length ?? 0) > MAX_MESSAGE_LENGTH) {
    throw fieldRefused('message_text', `the message must have at most ${MAX_MESSAGE_LENGTH} characters`, null);
  }
  if ((message.buttonText?.length ?? 0) > MAX_BUTTON_LENGTH) {
    throw fieldRefused('button_text', `the button must have at most ${MAX_BUTTON_LENGTH} characters`, null);
  }
}

/**
 * The message about an offer (spec 04 section 9.4): the administrator's text with its placeholders filled, else the default text in
 * the user's language. The button claims the offer or, where a mini-app is configured, opens it.
 */
export async function renderMessage(
  app: App,
  message: OfferMessage,
  terms: OfferTerms,
  language: string | null,
): Promise<RenderedMessage> {
  const adminText = message.messageText?.trim() ? message.messageText : null;
  const html =
    adminText === null
      ? defaultText(terms, language)
      : fillMessage(adminText, { ...terms, serverNames: await namesOf(app, terms) });
  const claimText = message.buttonText?.trim() || text(language, 'promo.offer_button');
  const miniApp = app.settings.get('MINIAPP_CUSTOM_URL').trim();
  const close = { text: text(language, 'promo.offer_close'), callbackData: CLOSE_BUTTON };
  return {
    html,
    buttonsFor: (offerId) => [
      [
        miniApp.startsWith('https://')
          ? { text: claimText, webAppUrl: miniApp }
          : { text: claimText, callbackData: `${CLAIM_BUTTON}${offerId}` },
      ],
      [close],
    ],
  };
}

/** Renders once per language. */
export function messageRenderer(app: App, message: OfferMessage, terms: OfferTerms) {
  const rendered = new Map<string, Promise<RenderedMessage>>();
  return (language: string | null): Promise<RenderedMessage> => {
    const key = knownLanguage(language);
    const made = rendered.get(key) ?? renderMessage(app, message, terms, key);
    rendered.set(key, made);
    return made;
  };
}

function defaultText(terms: OfferTerms, language: string | null): string {
  const head = givesTemporaryAccess(terms)
    ? htmlText(language, 'promo.offer_message_access', { hours: temporaryAccessOf(terms.extraData).hours })
    : htmlText(language, 'promo.offer_message_discount', { percent: terms.discountPercent });
  const bonus =
    terms.bonusAmountKopeks > 0
      ? [htmlText(language, 'promo.offer_message_bonus', { amount: formatPrice(terms.bonusAmountKopeks, false) })]
      : [];
  return [head, ...bonus, htmlText(language, 'promo.offer_message_hours', { hours: terms.validHours })].join('\n');
}

/** Display names of the servers of temporary access. */
async function namesOf(app: App, terms: OfferTerms): Promise<string[]> {
  const { squads } = temporaryAccessOf(terms.extraData);
  if (squads.length === 0) return [];
  return (await findSquadsByUuid(app, squads)).map((squad) => squad.displayName);
}
