/** Web API: logs. */
export const WEB_LOGS: Readonly<Record<string, string>> = {
  'GET /logs/system':
    'Returns the last characters of the log file of the instance that answers: one record a line, secrets masked. A file that does not exist yet is empty. Reads only the end of the file, and the whole of it up to 20 MiB to count its characters.',
  'GET /logs/system/download':
    'Sends the log file of the instance that answers, as long as it is when the download begins. Records that follow are not part of it.',
  'GET /logs/system/full':
    'Returns the whole log file of the instance that answers. One above 10 MiB is refused; it can be downloaded.',
  'GET /logs/monitoring':
    'Lists what scheduled jobs did, newest first: reminders, renewals, ends of subscriptions, checks of channels, synchronisations with the panel. Runs that found nothing to do have no row. Rows are deleted after `MONITORING_LOGS_RETENTION_DAYS`.',
  'GET /logs/monitoring/event-types': 'Lists the types of events that occur in the monitoring log, in alphabetical order.',
  'GET /logs/support':
    'Lists what administrators and API tokens did with tickets, newest first. A row of an API token has no actor; `details.token_id` names the token.',
  'GET /logs/support/actions': 'Lists the actions that occur in the log of support, in alphabetical order.',
};
