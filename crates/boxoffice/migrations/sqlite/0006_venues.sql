-- Where a concert is given, and by which clock its times are told.

-- A name of the IANA database. The box office checks that it knows the name; here it is only kept from being empty.
-- The default is for concerts that were put up before, and for box offices of earlier versions that still put up some:
-- nobody has said where those are, and UTC is named on every page.
ALTER TABLE concerts ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC'
    CONSTRAINT concerts_time_zone_length CHECK (length(time_zone) BETWEEN 1 AND 100);

-- What the place is called, if anybody has said it.
ALTER TABLE concerts ADD COLUMN venue TEXT
    CONSTRAINT concerts_venue_length CHECK (length(venue) BETWEEN 1 AND 200);
