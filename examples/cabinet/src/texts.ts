import { createContext, useContext } from 'react';

export type Language = 'ru' | 'en';

const EN = {
  title: 'Your cabinet',
  tagline: 'Private internet access on all your devices',
  signIn: 'Sign in',
  register: 'Create account',
  email: 'E-mail',
  password: 'Password',
  passwordHint: 'At least 8 characters',
  tooShort: 'Too short; at least',
  invalidValue: 'Please check this field',
  mailSent: 'We have sent you a letter. Follow its link to finish.',
  sandboxMail: 'This is a sandbox: the letter lies in its mail box.',
  openMailbox: 'Open the mail box',
  verifying: 'Checking your link…',
  verifyFailed: 'This link does not work',
  toSignIn: 'To the sign-in',
  signOut: 'Sign out',
  balance: 'Balance',
  topUp: 'Top up',
  amount: 'Amount, ₽',
  method: 'Way to pay',
  payPage: 'Open the payment page',
  noMethods: 'There is no way to pay at the moment.',
  subscription: 'Subscription',
  noSubscription: 'You have no subscription yet. Choose a tariff below.',
  until: 'until',
  traffic: 'Traffic',
  unlimited: 'unlimited',
  gb: 'GB',
  devices: 'Devices',
  link: 'Your link',
  linkComing: 'Your link is being made…',
  copy: 'Copy',
  copied: 'Copied',
  tariffs: 'Tariffs',
  buy: 'Buy',
  extend: 'Extend',
  current: 'Yours',
  perDay: 'per day',
  noTariffs: 'Nothing is on sale at the moment.',
  live: 'live',
  offline: 'connecting',
  noticeTopup: 'Balance topped up:',
  noticeActivated: 'Subscription activated:',
  noticeRenewed: 'Subscription extended',
  bought: 'Done! Enjoy your subscription.',
  rules: 'Rules',
  faq: 'Questions',
  privacy: 'Privacy',
  emptyPage: 'Nothing here yet.',
  support: 'Support',
  supportTickets: '(also by tickets in the bot)',
  secondFactor: 'Second factor',
  passkey: 'Passkey',
  authenticator: 'Authenticator app',
  addPasskey: 'Add a passkey',
  addAuthenticator: 'Add an authenticator app',
  usePasskey: 'Use a passkey',
  code: 'Code',
  recoveryCode: 'Recovery code',
  confirm: 'Confirm',
  remove: 'Remove',
  keepCodes: 'Write these recovery codes down: they are shown this once.',
  enterSecret: 'Enter this secret in the app, then its code:',
  proveAgain: 'Prove again who you are',
  signInAgain: 'Sign out and sign in again.',
};

export type Texts = typeof EN;

const RU: Texts = {
  title: 'Личный кабинет',
  tagline: 'Свободный интернет на всех ваших устройствах',
  signIn: 'Войти',
  register: 'Регистрация',
  email: 'Эл. почта',
  password: 'Пароль',
  passwordHint: 'Не меньше 8 символов',
  tooShort: 'Слишком коротко; не меньше',
  invalidValue: 'Проверьте это поле',
  mailSent: 'Мы отправили вам письмо. Перейдите по ссылке из него.',
  sandboxMail: 'Это песочница: письмо лежит в её почтовом ящике.',
  openMailbox: 'Открыть почтовый ящик',
  verifying: 'Проверяем ссылку…',
  verifyFailed: 'Эта ссылка не работает',
  toSignIn: 'Ко входу',
  signOut: 'Выйти',
  balance: 'Баланс',
  topUp: 'Пополнить',
  amount: 'Сумма, ₽',
  method: 'Способ оплаты',
  payPage: 'Открыть страницу оплаты',
  noMethods: 'Сейчас пополнить нельзя.',
  subscription: 'Подписка',
  noSubscription: 'Подписки пока нет. Выберите тариф ниже.',
  until: 'до',
  traffic: 'Трафик',
  unlimited: 'без ограничений',
  gb: 'ГБ',
  devices: 'Устройства',
  link: 'Ваша ссылка',
  linkComing: 'Ссылка готовится…',
  copy: 'Копировать',
  copied: 'Скопировано',
  tariffs: 'Тарифы',
  buy: 'Купить',
  extend: 'Продлить',
  current: 'Ваш',
  perDay: 'в день',
  noTariffs: 'Сейчас ничего не продаётся.',
  live: 'на связи',
  offline: 'соединяемся',
  noticeTopup: 'Баланс пополнен:',
  noticeActivated: 'Подписка активна:',
  noticeRenewed: 'Подписка продлена',
  bought: 'Готово! Приятного пользования.',
  rules: 'Правила',
  faq: 'Вопросы',
  privacy: 'Конфиденциальность',
  emptyPage: 'Здесь пока ничего нет.',
  support: 'Поддержка',
  supportTickets: '(и обращения в боте)',
  secondFactor: 'Второй фактор',
  passkey: 'Ключ доступа',
  authenticator: 'Приложение с кодами',
  addPasskey: 'Добавить ключ доступа',
  addAuthenticator: 'Добавить приложение с кодами',
  usePasskey: 'Войти ключом доступа',
  code: 'Код',
  recoveryCode: 'Код восстановления',
  confirm: 'Подтвердить',
  remove: 'Удалить',
  keepCodes: 'Запишите эти коды восстановления: они показаны один раз.',
  enterSecret: 'Введите этот секрет в приложении, затем его код:',
  proveAgain: 'Подтвердите, что это вы',
  signInAgain: 'Выйдите и войдите снова.',
};

const TEXTS: Record<Language, Texts> = { ru: RU, en: EN };

export const LanguageContext = createContext<Language>('ru');

export function useLanguage(): Language {
  return useContext(LanguageContext);
}

export function useTexts(): Texts {
  return TEXTS[useLanguage()];
}

/** Kopeks as rubles, for display only. */
export function money(kopeks: number, language: Language): string {
  const fraction = kopeks % 100 === 0 ? 0 : 2;
  const format = {
    style: 'currency',
    currency: 'RUB',
    minimumFractionDigits: fraction,
    maximumFractionDigits: fraction,
  } as const;
  return new Intl.NumberFormat(language, format).format(kopeks / 100);
}

export function day(timestamp: string, language: Language): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long' }).format(new Date(timestamp));
}
