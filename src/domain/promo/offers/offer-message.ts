import type { App } from '../../../core/app.ts';
import { formatPrice } from '../../../core/money.ts';
import { findSquadsByUuid } from '../../catalog/find-squads.ts';
import type { MessengerButton } from '../../messaging/ports.ts';
import { htmlText, knownLanguage, text } from '../../messaging/texts.ts';
import { fieldRefused, fillMessage, lendsServers, lentServers, MAX_BUTTON_LENGTH, MAX_MESSAGE_LENGTH } from './rules.ts';
import type { OfferMessage, OfferTerms } from './types.ts';

/** Data of the buttons under an offer; `answer-in-messenger.ts` takes the presses. */
export const CLAIM_BUTTON = 'claim_discount_';
export const CLOSE_BUTTON = 'promo_offer_close';

/** A message about an offer in one language; the button that claims it is told the offer's id. */
export interface RenderedMessage {
  html: string;
  buttonsFor: (offerId: number) => readonly (readonly MessengerButton[])[];
}

/** @throws ValidationError 422 for a text, filled in, or a button that the messenger does not take */
export async function checkMessage(app: App, message: OfferMessage, terms: OfferTerms): Promise<void> {
  const { html } = await renderMessage(app, message, terms, null);
  if (html.length > MAX_MESSAGE_LENGTH || (message.text?.length ?? 0) > MAX_MESSAGE_LENGTH) {
    throw fieldRefused('message_text', `the message must have at most ${MAX_MESSAGE_LENGTH} characters`, null);
  }
  if ((message.buttonText?.length ?? 0) > MAX_BUTTON_LENGTH) {
    throw fieldRefused('button_text', `the button must have at most ${MAX_BUTTON_LENGTH} characters`, null);
  }
}

/**
 * The message about an offer (spec 04 section 9.4): the administrator's text with its placeholders filled, else ours in the user's
 * language. The button claims the offer here or, where a mini-app is set, opens that.
 */
export async function renderMessage(
  app: App,
  message: OfferMessage,
  terms: OfferTerms,
  language: string | null,
): Promise<RenderedMessage> {
  const given = message.text?.trim() ? message.text : null;
  const html =
    given === null ? ownText(terms, language) : fillMessage(given, { ...terms, serverNames: await namesOf(app, terms) });
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

/** Renders once a language. */
export function messageRenderer(app: App, message: OfferMessage, terms: OfferTerms) {
  const rendered = new Map<string, Promise<RenderedMessage>>();
  return (language: string | null): Promise<RenderedMessage> => {
    const key = knownLanguage(language);
    const made = rendered.get(key) ?? renderMessage(app, message, terms, key);
    rendered.set(key, made);
    return made;
  };
}

function ownText(terms: OfferTerms, language: string | null): string {
  const head = lendsServers(terms)
    ? htmlText(language, 'promo.offer_message_access', { hours: lentServers(terms.extraData).hours })
    : htmlText(language, 'promo.offer_message_discount', { percent: terms.discountPercent });
  const bonus =
    terms.bonusAmountKopeks > 0
      ? [htmlText(language, 'promo.offer_message_bonus', { amount: formatPrice(terms.bonusAmountKopeks, false) })]
      : [];
  return [head, ...bonus, htmlText(language, 'promo.offer_message_hours', { hours: terms.validHours })].join('\n');
}

/** Names of the servers that the offer lends, as users see them. */
async function namesOf(app: App, terms: OfferTerms): Promise<string[]> {
  const { squads } = lentServers(terms.extraData);
  if (squads.length === 0) return [];
  return (await findSquadsByUuid(app, squads)).map((squad) => squad.displayName);
}
