/**
 * A plausible past of a service: who came when, from where, and what he bought, asked and paid. Pure: the same options give the same past,
 * and nothing here knows how it is carried out.
 */

/** Kopeks by days; GB (0 = unlimited); weight = how many of ten buyers choose it. */
export interface PlannedTariff {
  name: string;
  description: string;
  trafficLimitGb: number;
  deviceLimit: number;
  devicePriceKopeks: number;
  periodPrices: Readonly<Record<number, number>>;
  trafficPackages: Readonly<Record<number, number>>;
  weight: number;
}

export interface PlannedCampaign {
  name: string;
  slug: string;
  /** Balance at the registration, kopeks; 0 = a campaign that only counts. */
  bonusKopeks: number;
  weight: number;
}

export interface PlannedPromocode {
  code: string;
  bonusKopeks: number;
}

export interface PlannedPerson {
  messengerId: number;
  username: string | null;
  firstName: string;
  lastName: string | null;
  language: 'ru' | 'en';
}

/** `person`, `referrer`: numbers in the order of arrival, from 0; `tariff`, `campaign`, `promocode`: numbers in the lists of the plan. */
export type PlannedAction = { at: Date; person: number } & (
  | { kind: 'register'; profile: PlannedPerson; referrer: number | null; campaign: number | null }
  | { kind: 'trial' }
  | { kind: 'promocode'; promocode: number }
  | { kind: 'topup'; kopeks: number; isPaid: boolean }
  | { kind: 'purchase'; tariff: number; days: number }
  | { kind: 'renewal'; days: number }
  | { kind: 'autopay' }
  | { kind: 'traffic'; gb: number }
  | { kind: 'devices'; devices: number }
  | { kind: 'spin' }
  | { kind: 'ticket'; title: string; text: string }
  | { kind: 'ticket_answer'; text: string }
  | { kind: 'ticket_reply'; text: string }
);

export interface HistoryPlan {
  tariffs: readonly PlannedTariff[];
  campaigns: readonly PlannedCampaign[];
  promocodes: readonly PlannedPromocode[];
  /** In order of time. */
  actions: readonly PlannedAction[];
}

export interface HistoryOptions {
  people: number;
  days: number;
  /** The present of the service; the past ends here. */
  end: Date;
  seed: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Ids that the messenger gives to no person, so that no real one is written to by mistake. */
const FIRST_MESSENGER_ID = 9_900_000_000;

const TARIFFS: readonly PlannedTariff[] = [
  {
    name: 'Базовый',
    description: 'Для телефона и поездок',
    trafficLimitGb: 100,
    deviceLimit: 2,
    devicePriceKopeks: 5_000,
    periodPrices: { 30: 19_900, 90: 54_900, 180: 99_900 },
    trafficPackages: { 20: 4_900, 50: 9_900 },
    weight: 5,
  },
  {
    name: 'Оптимальный',
    description: 'Телефон, ноутбук и телевизор',
    trafficLimitGb: 300,
    deviceLimit: 4,
    devicePriceKopeks: 5_000,
    periodPrices: { 30: 34_900, 90: 94_900, 365: 329_900 },
    trafficPackages: { 50: 8_900, 100: 15_900 },
    weight: 4,
  },
  {
    name: 'Семейный',
    description: 'Без ограничения трафика, на всю семью',
    trafficLimitGb: 0,
    deviceLimit: 10,
    devicePriceKopeks: 3_000,
    periodPrices: { 30: 59_900, 90: 159_900, 365: 559_900 },
    trafficPackages: {},
    weight: 1,
  },
];

const CAMPAIGNS: readonly PlannedCampaign[] = [
  { name: 'Канал о путешествиях', slug: 'travel', bonusKopeks: 0, weight: 4 },
  { name: 'Обзор на видео', slug: 'review', bonusKopeks: 5_000, weight: 3 },
  { name: 'Студенческий чат', slug: 'students', bonusKopeks: 3_000, weight: 2 },
  { name: 'Реклама в поиске', slug: 'search', bonusKopeks: 0, weight: 2 },
];

const PROMOCODES: readonly PlannedPromocode[] = [
  { code: 'WELCOME', bonusKopeks: 5_000 },
  { code: 'AUTUMN', bonusKopeks: 10_000 },
];

/** First and last names that go together. */
const NAMES: readonly { language: 'ru' | 'en'; weight: number; first: readonly string[]; last: readonly (string | null)[] }[] = [
  {
    language: 'ru',
    weight: 9,
    first: ['Анна', 'Мария', 'Ольга', 'Дарья', 'Елена', 'Ася'],
    last: ['Белова', 'Орлова', 'Миронова', 'Савельева', 'Громова', null],
  },
  {
    language: 'ru',
    weight: 8,
    first: ['Иван', 'Пётр', 'Сергей', 'Алексей', 'Никита', 'Тимур'],
    last: ['Лебедев', 'Соколов', 'Ершов', 'Зуев', 'Гаврилов', null],
  },
  { language: 'en', weight: 3, first: ['Alice', 'Robin', 'Jordan', 'Sam', 'Emma', 'Noah'], last: [null] },
];

const QUESTIONS: readonly { title: string; text: string; answer: string }[] = [
  {
    title: 'Не подключается на телевизоре',
    text: 'Добрый день! На телефоне всё работает, а на телевизоре приложение пишет, что ссылка не подходит.',
    answer: 'Здравствуйте! Откройте в приложении «Добавить по ссылке» и вставьте её целиком, вместе с https.',
  },
  {
    title: 'Вернуть деньги за прошлый месяц',
    text: 'Случайно оплатил два раза, можно зачесть второй платёж?',
    answer: 'Второй платёж уже на вашем балансе: он пойдёт на следующее продление.',
  },
  {
    title: 'Низкая скорость вечером',
    text: 'После девяти вечера скорость падает. Какой сервер лучше выбрать?',
    answer: 'Попробуйте сервер в другой стране из списка, вечером он свободнее.',
  },
  {
    title: 'How do I add a second device?',
    text: 'I have a new laptop and would like to use the same subscription there.',
    answer: 'Open your subscription and choose “Devices”: your tariff covers several of them, the link is the same.',
  },
];

/** @returns the plan; the number of actions is about eight for each person in half a year */
export function planHistory({ people, days, end, seed }: HistoryOptions): HistoryPlan {
  const chance = new Chance(seed);
  const start = end.getTime() - days * DAY_MS;
  const actions: PlannedAction[] = [];
  const arrivals = Array.from({ length: people }, () => start + arrivalShare(chance) * days * DAY_MS).sort((a, b) => a - b);
  for (const [person, arrival] of arrivals.entries()) {
    const life = new PersonLife({ person, arrival, end: end.getTime(), chance });
    actions.push(...life.actions());
  }
  actions.sort((a, b) => a.at.getTime() - b.at.getTime() || a.person - b.person);
  return { tariffs: TARIFFS, campaigns: CAMPAIGNS, promocodes: PROMOCODES, actions };
}

/** 0..1: more people come the longer the service exists. */
function arrivalShare(chance: Chance): number {
  return chance.next() ** 0.6;
}

/** What one person does from the first visit to the present. */
class PersonLife {
  readonly #person: number;
  readonly #end: number;
  readonly #chance: Chance;
  readonly #actions: PlannedAction[] = [];
  #time: number;

  constructor({ person, arrival, end, chance }: { person: number; arrival: number; end: number; chance: Chance }) {
    this.#person = person;
    this.#end = end;
    this.#chance = chance;
    this.#time = arrival;
  }

  actions(): readonly PlannedAction[] {
    const chance = this.#chance;
    this.#register();
    if (chance.is(0.12)) this.#add(20 * MINUTE_MS, { kind: 'promocode', promocode: chance.below(PROMOCODES.length) });
    const hasTrial = chance.is(0.7);
    if (hasTrial) this.#add(30 * MINUTE_MS, { kind: 'trial' });
    if (chance.is(hasTrial ? 0.5 : 0.35)) this.#subscribe(hasTrial ? 3 * DAY_MS : 2 * HOUR_MS);
    return this.#actions;
  }

  #register(): void {
    const chance = this.#chance;
    const source = chance.next();
    const { language, first, last } = NAMES[chance.weighted(NAMES)]!;
    this.#add(0, {
      kind: 'register',
      profile: {
        messengerId: FIRST_MESSENGER_ID + this.#person,
        username: chance.is(0.8) ? `sandbox_${this.#person}` : null,
        firstName: chance.of(first),
        lastName: chance.of(last),
        language,
      },
      // Who came early invites more people.
      referrer: source < 0.25 && this.#person > 0 ? Math.floor(this.#person * chance.next() ** 2) : null,
      campaign: source > 0.65 ? chance.weighted(CAMPAIGNS) : null,
    });
  }

  #subscribe(after: number): void {
    const chance = this.#chance;
    const tariff = chance.weighted(TARIFFS);
    const { periodPrices, trafficPackages, devicePriceKopeks } = TARIFFS[tariff]!;
    const periods = Object.keys(periodPrices).map(Number);
    const days = chance.is(0.7) ? periods[0]! : chance.of(periods);
    if (!this.#pay(after * (0.5 + chance.next()), periodPrices[days]!)) return;
    this.#add(5 * MINUTE_MS, { kind: 'purchase', tariff, days });
    const bought = this.#time;
    const hasAutopay = chance.is(0.4);
    if (hasAutopay) this.#add(2 * MINUTE_MS, { kind: 'autopay' });
    const packages = Object.entries(trafficPackages);
    if (packages.length > 0 && chance.is(0.15)) {
      const [gb, kopeks] = chance.of(packages);
      if (this.#pay(10 * DAY_MS * chance.next(), kopeks)) this.#add(3 * MINUTE_MS, { kind: 'traffic', gb: Number(gb) });
    }
    // A device costs its price for every 30 days that are left.
    if (chance.is(0.08) && this.#pay(3 * DAY_MS * chance.next(), devicePriceKopeks * Math.ceil(days / 30)))
      this.#add(2 * MINUTE_MS, { kind: 'devices', devices: 1 });
    if (chance.is(0.1)) this.#ask();
    if (chance.is(0.15)) this.#add(2 * DAY_MS * chance.next(), { kind: 'spin' });
    this.#renew({ bought, tariff, days, hasAutopay });
  }

  /** Again and again, until the person stays away. With autopay the money is enough. */
  #renew({ bought, tariff, days, hasAutopay }: { bought: number; tariff: number; days: number; hasAutopay: boolean }): void {
    const price = TARIFFS[tariff]!.periodPrices[days]!;
    for (let until = bought + days * DAY_MS; this.#chance.is(0.75); until += days * DAY_MS) {
      const when = until - DAY_MS * (0.5 + 2.5 * this.#chance.next());
      if (when <= this.#time) continue;
      if (!this.#pay(when - this.#time, price)) return;
      if (!hasAutopay) this.#add(4 * MINUTE_MS, { kind: 'renewal', days });
    }
  }

  #ask(): void {
    const { title, text, answer } = this.#chance.of(QUESTIONS);
    this.#add(DAY_MS * this.#chance.next(), { kind: 'ticket', title, text });
    if (!this.#chance.is(0.9)) return;
    this.#add(HOUR_MS * (0.2 + 5 * this.#chance.next()), { kind: 'ticket_answer', text: answer });
    if (this.#chance.is(0.5)) this.#add(HOUR_MS, { kind: 'ticket_reply', text: 'Спасибо, помогло!' });
  }

  /** Tops the balance up; one of twelve gives up or is refused by the bank first. @returns false when the present comes first */
  #pay(after: number, kopeks: number): boolean {
    if (this.#chance.is(0.08)) this.#add(after, { kind: 'topup', kopeks, isPaid: false });
    return this.#add(this.#chance.is(0.9) ? after : after + HOUR_MS, { kind: 'topup', kopeks, isPaid: true });
  }

  /** @returns false when it would be in the future */
  #add(after: number, action: DistributiveOmit<PlannedAction, 'at' | 'person'>): boolean {
    // Whole seconds; the time between the steps of one person is never zero, so that their order is that of the plan.
    const at = Math.ceil((this.#time + after) / 1_000) * 1_000 + 1_000;
    if (at >= this.#end) return false;
    this.#time = at;
    this.#actions.push({ ...action, at: new Date(at), person: this.#person } as PlannedAction);
    return true;
  }
}

type DistributiveOmit<T, K extends keyof T> = T extends unknown ? Omit<T, K> : never;

/** Repeatable chance (the generator "mulberry32"). */
class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  is(probability: number): boolean {
    return this.next() < probability;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** The number of one of the list. */
  weighted(list: readonly { weight: number }[]): number {
    let rest = this.next() * list.reduce((sum, { weight }) => sum + weight, 0);
    const at = list.findIndex(({ weight }) => {
      rest -= weight;
      return rest < 0;
    });
    return at < 0 ? list.length - 1 : at;
  }
}
