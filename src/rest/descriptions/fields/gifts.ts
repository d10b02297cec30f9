const STATUS =
  '`pending` (not paid), `paid` (paid; a code waits to be activated), `pending_activation` (waits for the consent of the recipient, or is being activated), `delivered`, `failed` or `expired` (not paid in time).';
const TOKEN = 'Code of the gift: 22 characters, 12 for old gifts. It activates the gift, with or without `GIFT-` before it.';

/** Texts of fields of gifts between accounts (spec 03 section 9). */
export const GIFT_FIELDS: Readonly<Record<string, string>> = {
  'GiftConfigResponse.is_enabled': 'Whether gifts are sold; while they are not, everything but the balance is empty.',
  'GiftConfigResponse.payment_methods': 'Payment methods that are open to this user.',
  'GiftConfigResponse.balance_kopeks': 'Own balance in kopeks.',
  'GiftConfigResponse.promo_group_name': 'Name of the own primary promo group, whose discount the prices contain; null for none.',
  'GiftConfigPaymentMethod.sub_options': 'Variants that can be chosen, as `{method_id}_{id}` in the purchase; null for none.',
  'GiftConfigPaymentMethod.display_name': 'Name shown to users.',
  currency_symbol: 'Symbol of the currency of all amounts.',
  active_discount_percent: 'Personal discount that the next purchase uses, percent, contained in the prices; null for none.',
  'GiftConfigResponse.active_discount_expires_at': 'When the personal discount ends (UTC); null for none, or without an end.',
  'GiftConfigSubOption.id': 'Id of the variant.',
  'GiftConfigSubOption.name': 'Display name of the variant.',
  recipient_type:
    'How the recipient is reached: `email` or `messenger`. Given together with `recipient_value`; null for a gift that is only a code.',
  recipient_value: 'E-mail address or user name of the recipient, with or without `@`; null for a gift that is only a code.',
  payment_mode: '`balance`: paid at once from the own balance. `gateway`: an invoice at a provider.',
  'GiftPurchaseRequest.payment_method':
    'Id of a method of the gift configuration, or `{method_id}_{variant}`; required for `gateway`, ignored for `balance`.',
  'GiftPurchaseRequest.period_days': 'Days, one of the periods of the tariff.',
  'GiftPurchaseResponse.status': '`ok`: paid from the balance. `created`: the invoice at `payment_url` has to be paid.',
  'GiftPurchaseResponse.purchase_token': TOKEN,
  'GiftPurchaseResponse.warning':
    '`messenger_unresolvable`: the messenger knows no person of this name, who gets the gift with the first sign-in from the messenger. Else null.',
  'PendingGiftResponse.token': TOKEN,
  'SentGiftResponse.token': TOKEN,
  'ReceivedGiftResponse.token': TOKEN,
  'PendingGiftResponse.sender_display': 'Contact of the buyer: e-mail address, `@` user name or `id:` with a number.',
  'ReceivedGiftResponse.sender_display': '`@` user name of the buyer, else the contact.',
  'SentGiftResponse.status': STATUS,
  'ReceivedGiftResponse.status': STATUS,
  'SentGiftResponse.device_limit': 'Number of devices of the tariff; 1 when the tariff no longer exists.',
  'ReceivedGiftResponse.device_limit': 'Number of devices of the tariff; 1 when the tariff no longer exists.',
  'SentGiftResponse.gift_recipient_value': 'Address or `@` user name of the recipient; null for a gift that is only a code.',
  activated_by_username: '`@` user name of who got the gift, when it is delivered; null otherwise, and without a user name.',
  'GiftPurchaseStatusResponse.status': STATUS,
  is_code_only: 'Whether the gift has no recipient and is activated by its code.',
  'GiftPurchaseStatusResponse.purchase_token': `${TOKEN} Null for a gift with a recipient.`,
  'GiftPurchaseStatusResponse.recipient_contact_value':
    'Address or `@` user name of the recipient; null for a gift that is only a code.',
  'GiftPurchaseStatusResponse.warning':
    '`messenger_unresolvable`: the messenger knew no person of this name when the gift was bought. Else null.',
  'ActivateGiftRequest.code': 'Code of the gift, with or without `GIFT-` before it; blanks around it are ignored.',
  'ActivateGiftResponse.status': 'Always `activated`.',
};
