import { Composer, InlineKeyboard, InputFile } from 'grammy';
import QRCode from 'qrcode';
import { type BotContext, escaped } from './context.ts';
import { dataOf } from './service.ts';
import { rubles } from './texts.ts';

export const referral = new Composer<BotContext>();

/** The invitation with a QR code that a friend can scan from the screen. */
referral.callbackQuery('menu_referrals', async (ctx) => {
  const mine = dataOf(await ctx.cabinet.GET('/cabinet/referral'));
  const link = mine.bot_referral_link || mine.referral_link;
  const earned = rubles(mine.total_earnings_kopeks);
  const caption = ctx.texts.invite(escaped(link), mine.commission_percent, mine.total_referrals, earned);
  const code = await QRCode.toBuffer(link, { width: 512, margin: 2 });
  await ctx.replyWithPhoto(new InputFile(code, 'invitation.png'), {
    caption,
    parse_mode: 'HTML',
    reply_markup: new InlineKeyboard().text(ctx.texts.toMenu, 'back_to_menu'),
  });
});
