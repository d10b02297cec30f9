/** Texts of fields of broadcasts (spec 05 section 3). */
const STATUS =
  '`queued`, `in_progress`, `paused`, `cancelling`, `cancelled`, `completed`, `partial` (some did not get it) or `failed` (no messenger or mail server).';
const TARGET =
  'Segment: `all`, `active`, `trial`, `no`, `expiring`, `expired`, `zero`, `active_zero`, `trial_zero` or one of `custom_…`';
const MESSAGE_TARGET = `${TARGET}, or \`tariff_<id>\`.`;
const BUTTONS =
  'Standard buttons: `balance`, `referrals`, `promocode`, `connect`, `subscription`, `support`, `home`; an empty list for none.';
const CUSTOM_BUTTONS = 'Further buttons, each in a row of its own below the standard ones.';
const MEDIA = 'File of the message; its caption, else the text, is sent under it. Null for none.';
const COUNT = 'Number of users who would get it.';
const SAMPLE = 'The first recipients, ten at most.';

export const BROADCAST_FIELDS: Readonly<Record<string, string>> = {
  'BroadcastResponse.total_count': 'Number of recipients; 0 until all of them are known.',
  'CabinetBroadcastsBroadcastResponse.total_count': 'Number of recipients; 0 until all of them are known.',
  'BroadcastResponse.sent_count': 'Recipients who got it.',
  'CabinetBroadcastsBroadcastResponse.sent_count': 'Recipients who got it.',
  'BroadcastResponse.failed_count': 'Recipients who did not get it, or of whom it is unknown because no answer came.',
  'CabinetBroadcastsBroadcastResponse.failed_count':
    'Recipients who did not get it, or of whom it is unknown because no answer came.',
  'BroadcastResponse.blocked_count': 'Recipients who have blocked the bot or are not known to the messenger.',
  'CabinetBroadcastsBroadcastResponse.blocked_count': 'Recipients who have blocked the bot or are not known to the messenger.',
  'BroadcastResponse.target_type': 'Segment, as it was given.',
  'CabinetBroadcastsBroadcastResponse.target_type': 'Segment, as it was given.',
  'BroadcastCreateRequest.target': `${TARGET}; in any case.`,
  'CabinetBroadcastsBroadcastCreateRequest.target': MESSAGE_TARGET,
  'BroadcastPreviewRequest.target': MESSAGE_TARGET,
  'EmailPreviewRequest.target': 'Segment: `all_email`, `email_only`, `messenger_with_email`, `active_email` or `expired_email`.',
  'CombinedBroadcastCreateRequest.target':
    'Segment of the messenger, or with channel `email` of the mail; with `both` the mail goes to `all_email`.',
  'BroadcastPreviewResponse.target': 'The segment.',
  'EmailPreviewResponse.target': 'The segment.',
  'BroadcastCreateRequest.message_text': "Text in the messenger's HTML. Trimmed.",
  'CabinetBroadcastsBroadcastCreateRequest.message_text': "Text in the messenger's HTML. Trimmed.",
  'CombinedBroadcastCreateRequest.message_text': "Text in the messenger's HTML, required unless the channel is `email`. Trimmed.",
  'BroadcastResponse.message_text': "Text in the messenger's HTML; empty for a broadcast by e-mail only.",
  'CabinetBroadcastsBroadcastResponse.message_text': "Text in the messenger's HTML; null for a broadcast by e-mail without one.",
  'BroadcastResponse.status': STATUS,
  'CabinetBroadcastsBroadcastResponse.status': STATUS,
  unconfirmed_count:
    'Recipients of whom it is unknown whether they got it, because a process ended while their message was under way. They are not sent it again unless that is asked for with `retry_unconfirmed`.',
  repeated_count:
    'Recipients who may have got it twice, because it was sent again to unconfirmed ones. They are part of the other counts.',
  'BroadcastResumeRequest.retry_unconfirmed':
    'Whether it is sent again to unconfirmed recipients, who may get it twice; also of a broadcast that runs or has ended.',
  estimated_end_at: 'When it is likely to end (UTC); null while that is unknown.',
  'BroadcastResponse.admin_id': 'Id of the administrator who sent it; null for an API token.',
  'BroadcastResponse.admin_name': 'Name of the administrator or of the API token.',
  'CabinetBroadcastsBroadcastResponse.admin_id': 'Id of the administrator who sent it; null for an API token.',
  'CabinetBroadcastsBroadcastResponse.admin_name': 'Name of the administrator or of the API token.',
  'CabinetBroadcastsBroadcastResponse.channel': '`messenger`, `email` or `both`.',
  'CombinedBroadcastCreateRequest.channel': '`messenger`, `email` or `both`.',
  email_subject: 'Subject of the mail, where `{{user_name}}` and `{{email}}` are filled; null without a mail.',
  email_html_content: 'HTML of the mail, where `{{user_name}}` and `{{email}}` are filled; null without a mail.',
  'BroadcastMedia.type': '`photo`, `video` or `document`.',
  'BroadcastMediaRequest.type': '`photo`, `video` or `document`.',
  'BroadcastMedia.caption':
    "Text under the file in the messenger's HTML, at most 1024 characters; null = the text of the message.",
  'BroadcastMediaRequest.caption':
    "Text under the file in the messenger's HTML, at most 1024 characters; null = the text of the message.",
  'BroadcastMedia.file_id': 'Id of the file, of an upload or of the messenger.',
  'BroadcastMediaRequest.file_id': 'Id of the file, of an upload or of the messenger.',
  'BroadcastCreateRequest.selected_buttons': `${BUTTONS} Without the field \`home\`; null for none.`,
  'CabinetBroadcastsBroadcastCreateRequest.selected_buttons': BUTTONS,
  'CombinedBroadcastCreateRequest.selected_buttons': BUTTONS,
  'CabinetBroadcastsBroadcastCreateRequest.custom_buttons': CUSTOM_BUTTONS,
  'CombinedBroadcastCreateRequest.custom_buttons': CUSTOM_BUTTONS,
  'BroadcastCreateRequest.media': MEDIA,
  'CabinetBroadcastsBroadcastCreateRequest.media': MEDIA,
  'CombinedBroadcastCreateRequest.media': MEDIA,
  'CustomBroadcastButton.label': 'Text on the button.',
  'CustomBroadcastButton.action_type': '`callback` or `url`.',
  'CustomBroadcastButton.action_value': 'Data of a callback, at most 64 bytes; or a link that begins with `https://` or `tg://`.',
  'BroadcastFiltersResponse.filters': 'Segments by subscription and traffic.',
  'BroadcastFiltersResponse.tariff_filters': 'Active tariffs as segments, by name.',
  'BroadcastFiltersResponse.custom_filters': 'Segments by registration, activity and source.',
  'EmailFiltersResponse.filters': 'Segments of the mail.',
  'EmailFiltersResponse.total_with_email': 'Number of users who would get a mail to everyone.',
  'BroadcastFilter.key': 'Name of the segment, for `target`.',
  'BroadcastFilter.label': "Name in the administrator's language.",
  'BroadcastFilter.count': COUNT,
  'BroadcastFilter.group': '`basic`, `subscription`, `traffic`, `registration`, `activity` or `source`.',
  'TariffFilter.key': 'Name of the segment, for `target`: `tariff_<id>`.',
  'TariffFilter.label': 'Name of the tariff.',
  'TariffFilter.count': COUNT,
  'EmailFilterItem.key': 'Name of the segment, for `target`.',
  'EmailFilterItem.label': "Name in the administrator's language.",
  'EmailFilterItem.count': COUNT,
  'EmailFilterItem.group': '`basic`, `auth_type` or `subscription`.',
  'TariffForBroadcast.filter_key': 'Name of the segment, for `target`: `tariff_<id>`.',
  'TariffForBroadcast.active_users_count': COUNT,
  'BroadcastButton.key': 'Key, for `selected_buttons`.',
  'BroadcastButton.label': "Label in the administrator's language; a recipient sees it in their own.",
  'BroadcastButton.default': 'Whether a client should select it at first.',
  'BroadcastPreviewResponse.count': COUNT,
  'EmailPreviewResponse.count': COUNT,
  'BroadcastPreviewResponse.sample': SAMPLE,
  'EmailPreviewResponse.sample': SAMPLE,
  'BroadcastSampleRecipient.name': 'Name, else username, address or number.',
};
