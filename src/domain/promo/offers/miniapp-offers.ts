import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS, SECOND_MS } from '../../../core/clock.ts';
import { findSquadsByUuid } from '../../catalog/find-squads.ts';
import { escapeHtml, fill } from '../../messaging/texts.ts';
import { readActiveDiscount } from './my-discount.ts';
import { findLatestClaimed, listLiveAccess, listOffersOfUser } from './repo.ts';
import { givesTemporaryAccess, hoursOf, placeholdersOf, TEST_ACCESS, templateIdOf, temporaryAccessOf } from './rules.ts';
import { listTemplates } from './template-repo.ts';
import type { Offer, OfferTemplate } from './types.ts';

/** A user has one open offer a type. */
const MAX_OFFERS = 50;
const TEMPLATE_TYPE = /^promo_template_(\d{1,9})$/;

/** An offer as the mini-app shows it (spec 02 section 12.3); kopeks. */
export interface MiniappOffer {
  offer: Offer;
  /** `active`: claimed and in effect. */
  status: 'active' | 'pending';
  effectType: string;
  template: OfferTemplate | null;
  /** Null where neither offer nor template names one (spec 10 X23). */
  title: string | null;
  buttonText: string | null;
  messageText: string | null;
  icon: string;
  testSquads: { uuid: string; name: string }[];
  /** Of an active one; null = until the first purchase. */
  activeUntil: Date | null;
  activeSeconds: number | null;
}

/** The claimed discount, then temporary accesses (latest end first), then open offers, soonest end first (spec 02 section 12.3). */
export async function listMiniappOffers(app: App, actor: UserActor): Promise<MiniappOffer[]> {
  const now = app.clock.now();
  const { userId } = actor;
  const [all, access, discount, templates] = await Promise.all([
    listOffersOfUser(app.db, userId, now, MAX_OFFERS),
    listLiveAccess(app.db, userId, now),
    readActiveDiscount(app, actor),
    listTemplates(app.db),
  ]);
  const claimed = discount.isActive && discount.source !== null ? await findLatestClaimed(app.db, userId, discount.source) : null;
  const open = all
    .filter((offer) => offer.isActive && offer.claimedAt === null)
    .sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime() || a.id - b.id);
  const uuids = [...open, ...access.map(({ offer }) => offer)].flatMap((offer) => squadsOf(offer));
  const names = new Map((await findSquadsByUuid(app, [...new Set(uuids)])).map((squad) => [squad.squadUuid, squad.displayName]));
  const show = (offer: Offer, activeUntil: Date | null | undefined): MiniappOffer => {
    const template = templateOf(offer, templates);
    const testSquads = squadsOf(offer).map((uuid) => ({ uuid, name: names.get(uuid) ?? uuid }));
    const isActive = activeUntil !== undefined;
    const { extraData } = offer;
    return {
      offer,
      status: isActive ? 'active' : 'pending',
      effectType: offer.effectType === 'balance_bonus' ? 'percent_discount' : offer.effectType,
      template,
      title: textOf(extraData.title) ?? template?.name ?? null,
      buttonText: textOf(extraData.button_text) ?? template?.buttonText ?? null,
      messageText: messageOf(offer, template, testSquads),
      icon: iconOf(offer, template),
      testSquads,
      activeUntil: activeUntil ?? null,
      activeSeconds: isActive ? secondsBetween(offer.claimedAt, activeUntil) : null,
    };
  };
  return [
    ...(claimed ? [show(claimed, discount.expiresAt ?? endByHours(claimed))] : []),
    ...access.map(({ offer, expiresAt }) => show(offer, expiresAt)),
    ...open.map((offer) => show(offer, undefined)),
  ];
}

const squadsOf = (offer: Offer) => (givesTemporaryAccess(offer) ? temporaryAccessOf(offer.extraData).squads : []);

function endByHours({ claimedAt, extraData }: Offer): Date | null {
  const hours = hoursOf(extraData.active_discount_hours);
  return claimedAt === null || hours === null ? null : addMs(claimedAt, hours * HOUR_MS);
}

function secondsBetween(from: Date | null, to: Date | null): number | null {
  return from === null || to === null ? null : Math.max(0, Math.floor((to.getTime() - from.getTime()) / SECOND_MS));
}

function templateOf(offer: Offer, templates: readonly OfferTemplate[]): OfferTemplate | null {
  const named = TEMPLATE_TYPE.exec(offer.notificationType)?.[1];
  const id = named === undefined ? templateIdOf(offer.extraData) : Number(named);
  return templates.find((template) => template.id === id) ?? null;
}

/** The messenger'''s HTML with its placeholders filled, values of the offer included; what cannot be filled stays as it is. */
function messageOf(offer: Offer, template: OfferTemplate | null, testSquads: MiniappOffer['testSquads']): string | null {
  const pattern = template?.messageText ?? textOf(offer.extraData.message_text) ?? textOf(offer.extraData.text);
  if (pattern === null) return null;
  const validHours = Math.max(0, Math.round((offer.expiresAt.getTime() - offer.createdAt.getTime()) / HOUR_MS));
  const { discountPercent, extraData } = offer;
  const scalars = Object.entries(extraData).filter(([, value]) => typeof value === 'string' || typeof value === 'number');
  const serverNames = testSquads.map((squad) => squad.name);
  const known = placeholdersOf({ discountPercent, validHours, extraData, serverNames });
  const values = { ...(Object.fromEntries(scalars) as Record<string, string | number>), ...known };
  return fill(pattern, values, (value) => escapeHtml(String(value)));
}

const ICONS: Readonly<Record<string, string>> = { extend_discount: '💎', purchase_discount: '🎯', [TEST_ACCESS]: '🧪' };

function iconOf(offer: Offer, template: OfferTemplate | null): string {
  const byType = ICONS[template?.offerType ?? offer.effectType];
  if (byType) return byType;
  return offer.effectType === 'percent_discount' || offer.effectType === 'balance_bonus' ? '🎁' : '🎉';
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
