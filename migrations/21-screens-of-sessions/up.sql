-- On some devices each session has a screen of its own, with a row of its own. It names the device; other rows are devices.
ALTER TABLE devices ADD COLUMN part_of TEXT;
