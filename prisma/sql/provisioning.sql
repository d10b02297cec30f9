-- The subscription as a request to update the panel leaves it: a new version of the desired state is pending (spec 06 17.6). Attempts start
-- at 0, so that the new state gets the full number of tries.
--- a subscription as a request to update the panel leaves it
CREATE OR REPLACE FUNCTION with_push_requested(
  p_subscription subscriptions, p_resets_traffic boolean, p_resets_devices boolean, p_now timestamptz)
RETURNS subscriptions LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  p_subscription.provision_state := 'pending';
  p_subscription.provision_version := coalesce(p_subscription.provision_version, 0) + 1;
  p_subscription.provision_attempts := 0;
  p_subscription.provision_error := NULL;
  p_subscription.provision_reset_traffic := coalesce(p_subscription.provision_reset_traffic, false) OR p_resets_traffic;
  p_subscription.provision_reset_devices := coalesce(p_subscription.provision_reset_devices, false) OR p_resets_devices;
  p_subscription.provision_requested_at := p_now;
  RETURN p_subscription;
END $$;
