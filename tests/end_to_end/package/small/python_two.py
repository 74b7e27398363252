print "written long ago"
