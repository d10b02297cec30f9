import { Bot, BotError, type ErrorHandler, session } from 'grammy';
import type { Update } from 'grammy/types';
import { type BotContext, type ChatState, endWaiting, escaped } from './context.ts';
import { menu, showMenu } from './menu.ts';
import { pages } from './pages.ts';
import { patientApi } from './patience.ts';
import { language, person } from './person.ts';
import { promoCode } from './promo-code.ts';
import { purchase } from './purchase.ts';
import { referral } from './referral.ts';
import { Refusal, Service, UpdateRefused } from './service.ts';
import { readSettings } from './settings.ts';
import { runSideBySide } from './side-by-side.ts';
import { stateFiles } from './state-files.ts';
import { subscription } from './subscription.ts';
import { TEXTS } from './texts.ts';
import { tickets } from './tickets.ts';
import { topUp } from './top-up.ts';

/** What the service handles itself must be requested here: the bot is the only receiver of its token's updates. */
const UPDATES = ['message', 'callback_query', 'pre_checkout_query', 'chat_member', 'my_chat_member'] as const;
const API_ROOT = 'https://api.telegram.org';

const settings = readSettings(process.env);
const service = new Service(settings);
const apiRoot = settings.botApiRoot ?? API_ROOT;
const bot = new Bot<BotContext>(settings.botToken, { client: { apiRoot } });
bot.api.config.use(patientApi);

// First the service, then this bot. An update is confirmed after both have handled it.
bot.use(async (ctx, next) => {
  await service.forward(ctx.update);
  await next();
});
bot.use(session({ initial: (): ChatState => ({ expected: null }), storage: stateFiles(settings.stateFolder) }));
bot.use(person(service));
bot.on('callback_query:data', async (ctx, next) => {
  // Whoever presses another button no longer answers the question before.
  ctx.session.expected = null;
  await next();
  await endWaiting(ctx);
});
bot.on('message:entities:bot_command', (ctx, next) => {
  ctx.session.expected = null;
  return next();
});
bot.use(menu, language, purchase, topUp, subscription, promoCode, referral, tickets(settings.botToken, apiRoot), pages);
// Buttons of notices, broadcasts and layouts for which this bot has no view.
bot.callbackQuery(/^(?:menu_\w+|contests_menu)$/, (ctx) => showMenu(ctx));
bot.on(['message:text', 'message:photo'], (ctx) => showMenu(ctx));

/** What the service refuses is said to the person in its words; everything else is logged. */
const explain: ErrorHandler<BotContext> = async (failure) => {
  const { ctx } = failure;
  const error: unknown = failure.error;
  const texts = ctx.texts ?? TEXTS.en;
  const isRefusal = error instanceof Refusal && (error.status < 500 || error.code === 'maintenance');
  if (!isRefusal) console.error(`Update ${ctx.update.update_id} failed:`, error);
  if (ctx.chat?.type !== 'private') return;
  await ctx.reply(isRefusal ? texts.refused(escaped(error.message)) : texts.failed, { parse_mode: 'HTML' });
  if (ctx.callbackQuery) await endWaiting(ctx);
};
async function handle(update: Update): Promise<void> {
  try {
    await bot.handleUpdate(update);
  } catch (failure) {
    // Ends the bot before the update is confirmed: a payment must not be lost because of a wrong secret.
    if (!(failure instanceof BotError) || failure.error instanceof UpdateRefused) throw failure;
    await Promise.resolve(explain(failure)).catch((error: unknown) => console.error('The person was not notified:', error));
  }
}

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
await bot.init();
await bot.api.setMyCommands([{ command: 'menu', description: TEXTS.en.menuCommand }]);
await bot.api.setMyCommands([{ command: 'menu', description: TEXTS.ru.menuCommand }], { language_code: 'ru' });
console.log(`@${bot.botInfo.username} is ready`);
await runSideBySide(bot, { allowedUpdates: UPDATES, handle, signal: stopping.signal });
