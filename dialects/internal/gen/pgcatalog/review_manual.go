package main

// This file is the review of extensions that are not at hand for a harvest. The
// names come from the extensions' manuals and installation scripts.

// manualExtensions are reviewed sets. Every denied name counts as callable with
// one argument.
var manualExtensions = []extension{
	{
		// pgvector up to 0.8.
		name: "vector",
		allowed: `
		array_to_halfvec array_to_sparsevec array_to_vector binary_quantize cosine_distance halfvec
		halfvec_add halfvec_cmp halfvec_concat halfvec_eq halfvec_ge halfvec_gt
		halfvec_l2_squared_distance halfvec_le halfvec_lt halfvec_mul halfvec_ne
		halfvec_negative_inner_product halfvec_spherical_distance halfvec_sub halfvec_to_float4
		halfvec_to_sparsevec halfvec_to_vector hamming_distance inner_product jaccard_distance l1_distance
		l2_distance l2_norm l2_normalize sparsevec sparsevec_cmp sparsevec_eq sparsevec_ge sparsevec_gt
		sparsevec_l2_squared_distance sparsevec_le sparsevec_lt sparsevec_ne
		sparsevec_negative_inner_product sparsevec_to_halfvec sparsevec_to_vector subvector vector
		vector_add vector_cmp vector_concat vector_dims vector_eq vector_ge vector_gt
		vector_l2_squared_distance vector_le vector_lt vector_mul vector_ne vector_negative_inner_product
		vector_norm vector_spherical_distance vector_sub vector_to_float4 vector_to_halfvec
		vector_to_sparsevec`,
	},
	{
		// PostGIS 2.5 to 3.7 without raster, topology and SFCGAL. All of these
		// compute from their arguments alone; find_srid reads geometry_columns.
		name: "postgis",
		allowed: `
		box2d box3d geography geometry geometrytype geomfromewkb geomfromewkt find_srid postgis_addbbox
		postgis_dropbbox postgis_full_version postgis_geos_version postgis_getbbox postgis_hasbbox
		postgis_lib_version postgis_liblwgeom_version postgis_libxml_version postgis_proj_version
		postgis_scripts_installed postgis_typmod_dims postgis_typmod_srid postgis_typmod_type
		postgis_version
		st_3dclosestpoint st_3ddfullywithin st_3ddistance st_3ddwithin st_3dextent st_3dinterpolatepoint
		st_3dintersects st_3dlength st_3dlength_spheroid st_3dlineinterpolatepoint st_3dlongestline
		st_3dmakebox st_3dmaxdistance st_3dperimeter st_3dshortestline st_accum st_addmeasure st_addpoint
		st_affine st_angle st_area st_area2d st_asbinary st_asencodedpolyline st_asewkb st_asewkt
		st_asflatgeobuf st_asgeobuf st_asgeojson st_asgml st_ashexewkb st_askml st_aslatlontext
		st_asmarc21 st_asmvt st_asmvtgeom st_assvg st_astext st_astwkb st_asx3d st_azimuth
		st_bdmpolyfromtext st_bdpolyfromtext st_boundary st_boundingdiagonal st_box2dfromgeohash st_buffer
		st_buildarea st_catmullromsmoothing st_centroid st_chaikinsmoothing st_cleangeometry
		st_clipbybox2d st_closestpoint st_closestpointofapproach st_clusterdbscan st_clusterintersecting
		st_clusterintersectingwin st_clusterkmeans st_clusterrelatewin st_clusterwithin
		st_clusterwithinwin st_collect st_collectionextract st_collectionhomogenize st_combine_bbox
		st_combinebbox st_concavehull st_contains st_containsproperly st_controlpoints st_convexhull
		st_coorddim st_coverageclean st_coverageedges st_coverageinvalidedges st_coveragesimplify
		st_coverageunion st_coveredby st_covers st_cpawithin st_crosses st_curven st_curvetoline st_degree
		st_delaunaytriangles st_dfullywithin st_difference st_dimension st_disjoint st_distance
		st_distance_sphere st_distance_spheroid st_distancecpa st_distancesphere st_distancespheroid
		st_dump st_dumppoints st_dumprings st_dumpsegments st_dwithin st_endm st_endpoint st_envelope
		st_equals st_evaluate st_expand st_extent st_exteriorring st_filterbym st_flipcoordinates
		st_force2d st_force3d st_force3dm st_force3dz st_force4d st_force_2d st_force_3d st_force_3dm
		st_force_3dz st_force_4d st_force_collection st_forcecollection st_forcecurve st_forcepolygonccw
		st_forcepolygoncw st_forcerhr st_forcesfs st_frechetdistance st_fromflatgeobuf st_generatepoints
		st_geogfromtext st_geogfromwkb st_geographyfromtext st_geohash st_geomcollfromtext
		st_geomcollfromwkb st_geometricmedian st_geometryfromtext st_geometryn st_geometrytype
		st_geomfromewkb st_geomfromewkt st_geomfromgeohash st_geomfromgeojson st_geomfromgml
		st_geomfromkml st_geomfrommarc21 st_geomfromtext st_geomfromtwkb st_geomfromwkb st_gmltosql
		st_hasarc st_hasm st_hasz st_hausdorffdistance st_hexagon st_hexagongrid st_interiorringn
		st_interpolatepoint st_intersection st_intersects st_isclosed st_iscollection st_isempty
		st_isnurbscurve st_ispolygonccw st_ispolygoncw st_isring st_issimple st_isvalid st_isvaliddetail
		st_isvalidreason st_isvalidtrajectory st_knots st_largestemptycircle st_length st_length2d
		st_length2d_spheroid st_length2dspheroid st_length_spheroid st_lengthspheroid st_letters
		st_line_interpolate_point st_line_locate_point st_line_substring st_linecrossingdirection
		st_lineextend st_linefromencodedpolyline st_linefrommultipoint st_linefromtext st_linefromwkb
		st_lineinterpolatepoint st_lineinterpolatepoints st_linelocatepoint st_linemerge
		st_linestringfromwkb st_linesubstring st_linetocurve st_locate_along_measure
		st_locate_between_measures st_locatealong st_locatebetween st_locatebetweenelevations
		st_longestline st_m st_makebox2d st_makebox3d st_makeenvelope st_makeline st_makenurbscurve
		st_makepoint st_makepointm st_makepolygon st_makevalid st_maxdistance st_maximuminscribedcircle
		st_mem_size st_memcollect st_memsize st_memunion st_minimumboundingcircle st_minimumboundingradius
		st_minimumclearance st_minimumclearanceline st_minimumspanningtree st_mlinefromtext
		st_mlinefromwkb st_mmax st_mmin st_mpointfromtext st_mpointfromwkb st_mpolyfromtext
		st_mpolyfromwkb st_msize st_multi st_multilinefromwkb st_multilinestringfromtext
		st_multipointfromtext st_multipointfromwkb st_multipolyfromwkb st_multipolygonfromtext st_ndims
		st_node st_normalize st_npoints st_nrings st_numcontrolpoints st_numcurves st_numgeometries
		st_numinteriorring st_numinteriorrings st_numpatches st_numpoints st_nurbscurveisrational
		st_nurbstolinestring st_offsetcurve st_orderingequals st_orientedenvelope st_overlaps st_patchn
		st_perimeter st_perimeter2d st_point st_point_inside_circle st_pointfromgeohash st_pointfromtext
		st_pointfromwkb st_pointinsidecircle st_pointm st_pointn st_pointonsurface st_points st_pointz
		st_pointzm st_polyfromtext st_polyfromwkb st_polygon st_polygonfromtext st_polygonfromwkb
		st_polygonize st_project st_quantizecoordinates st_reduceprecision st_relate st_relatematch
		st_removeirrelevantpointsforview st_removepoint st_removerepeatedpoints st_removesmallparts
		st_reverse st_rotate st_rotatex st_rotatey st_rotatez st_scale st_scroll st_segmentize
		st_seteffectivearea st_setendm st_setpoint st_setsrid st_setstartm st_sharedpaths
		st_shift_longitude st_shiftlongitude st_shortestline st_simplify st_simplifypolygonhull
		st_simplifypreservetopology st_simplifyvw st_snap st_snaptogrid st_split st_square st_squaregrid
		st_srid st_startm st_startpoint st_subdivide st_summary st_swapordinates st_symdifference
		st_symmetricdifference st_tileenvelope st_touches st_translate st_transscale st_triangulatepolygon
		st_unaryunion st_union st_voronoilines st_voronoipolygons st_weights st_within st_wkbtosql
		st_wkttosql st_wrapx st_x st_xmax st_xmin st_xsize st_y st_ymax st_ymin st_ysize st_z st_zmax
		st_zmflag st_zmin st_zsize`,
		denied: []denial{
			{"runsSQL", "CodeDynamicSQL", "runs SQL text or reads a table that it is given by name", `
			st_estimatedextent st_estimated_extent st_findextent st_find_extent
			_postgis_stats _postgis_selectivity _postgis_index_extent`},
			{"changesTables", "CodeFunctionSideEffect", "creates, changes or locks tables or rows", `
			addgeometrycolumn dropgeometrycolumn dropgeometrytable populate_geometry_columns
			updategeometrysrid st_fromflatgeobuftotable postgis_extensions_upgrade
			addauth checkauth checkauthtrigger disablelongtransactions enablelongtransactions
			lockrow unlockrows longtransactionsenabled
			topology.addtopogeometrycolumn topology.createtopology topology.droptopology
			topology.addedge topology.addface topology.addnode`},
			{"projectionFile", "CodeFunctionFileAccess", "takes a projection that can name grid files", `
			st_transformpipeline st_inversetransformpipeline
			postgis_transform_geometry postgis_transform_pipeline_geometry`},
			{"rasterFile", "CodeFunctionFileAccess", "reads or names raster files of the server", `
			st_addband st_bandpath st_bandfilesize st_bandfiletimestamp st_setbandpath st_fromgdalraster
			st_gdaldrivers`},
		},
	},
	{
		// PostGIS raster up to 3.7. A raster value can name a file or an address, from
		// which the pixels then come, so what reads pixels is listed apart. Left off is
		// what runs a GDAL driver, whose options can name files, and what makes a raster
		// of any size.
		name: "postgis_raster",
		allowed: `
		postgis_gdal_version postgis_raster_lib_build_date postgis_raster_lib_version
		postgis_raster_scripts_installed
		geometry_contained_by_raster geometry_raster_contain geometry_raster_overlap raster_above
		raster_below raster_contain raster_contained raster_contained_by_geometry raster_eq
		raster_geometry_contain raster_geometry_overlap raster_hash raster_left raster_overabove
		raster_overbelow raster_overlap raster_overleft raster_overright raster_right raster_same
		st_bandmetadata st_bandnodatavalue st_bandpixeltype
		st_georeference st_geotransform st_hasnoband st_height st_iscoveragetile st_metadata
		st_minpossiblevalue st_notsamealignmentreason st_numbands st_pixelheight st_pixelwidth
		st_rastertoworldcoord st_rastertoworldcoordx st_rastertoworldcoordy st_rotation
		st_samealignment st_scalex st_scaley st_setgeoreference st_setgeotransform st_setrotation
		st_setscale st_setskew st_setupperleft st_skewx st_skewy st_upperleftx st_upperlefty st_width
		st_worldtorastercoord st_worldtorastercoordx st_worldtorastercoordy`,
		opens: `
		st_ashexwkb st_aspect st_aswkb st_band st_bandisnodata st_clip st_colormap st_contour st_countagg
		st_dumpaspolygons st_dumpvalues st_grayscale st_hillshade st_minconvexhull st_nearestvalue
		st_neighborhood st_pixelascentroid st_pixelascentroids st_pixelaspoint st_pixelaspoints
		st_pixelaspolygon st_pixelaspolygons st_pixelofvalue st_reclass st_roughness
		st_setbandisnodata st_setbandnodatavalue st_setm st_setvalue st_setvalues st_setz st_slope
		st_summarystatsagg st_tile st_tpi st_tri st_value`,
		denied: []denial{
			{"rasterFile", "CodeFunctionFileAccess", "reads or names raster files of the server", `
			st_rastfromwkb st_rastfromhexwkb st_setbandindex`},
			{"rasterDriver", "CodeFunctionFileAccess", "runs a GDAL driver with options that can name files", `
			st_asgdalraster st_asjpeg st_aspng st_astiff`},
			{"runsSQL", "CodeDynamicSQL", "runs SQL text or reads a table that it is given by name", `
			st_mapalgebra st_mapalgebraexpr st_mapalgebrafct st_mapalgebrafctngb st_createoverview st_retile`},
			{"changesTables", "CodeFunctionSideEffect", "creates, changes or locks tables or rows", `
			addoverviewconstraints addrasterconstraints dropoverviewconstraints droprasterconstraints
			updaterastersrid`},
		},
	},
	{
		// PostGIS topology up to 3.7. manualChecked has those that read the tables of a
		// topology by its name. Left off is what reads the tables of whatever topology a
		// value belongs to.
		name:    "postgis_topology",
		allowed: `gettopologyid gettopologyname gettopologysrid postgis_topology_scripts_installed topoelementarray_agg`,
	},
	{
		// TimescaleDB up to 2.23.
		name: "timescaledb",
		allowed: `
		approximate_row_count by_hash by_range chunk_columnstore_stats chunk_compression_stats
		chunks_detailed_size first generate_uuidv7 histogram hypertable_approximate_detailed_size
		hypertable_approximate_size hypertable_columnstore_stats hypertable_compression_stats
		hypertable_detailed_size hypertable_index_size hypertable_size interpolate last locf
		show_chunks show_tablespaces time_bucket time_bucket_gapfill to_uuidv7 to_uuidv7_boundary
		uuid_timestamp uuid_timestamp_micros uuid_version`,
	},
	{
		// postgresql-hll up to 2.20, without hll_hash_any, which runs the hash function
		// of whatever type it gets.
		name: "hll",
		allowed: `
		hll hll_add hll_add_agg hll_add_rev hll_cardinality hll_empty hll_eq hll_expthresh
		hll_hash_bigint hll_hash_boolean hll_hash_bytea hll_hash_integer hll_hash_smallint
		hll_hash_text hll_hashval hll_hashval_eq hll_hashval_int4 hll_hashval_ne hll_log2m hll_ne
		hll_print hll_regwidth hll_schema_version hll_sparseon hll_type hll_union hll_union_agg`,
		denied: []denial{
			{"changesSession", "CodeFunctionSideEffect", "changes the session's state", `
			hll_set_defaults hll_set_max_sparse hll_set_output_version`},
		},
	},
	{
		// h3-pg 1 to 4. All of these compute from their arguments alone.
		name: "h3",
		allowed: `
		bigint_to_h3index h3_are_neighbor_cells h3_basecells h3_cell_area h3_cell_to_boundary
		h3_cell_to_boundary_wkb h3_cell_to_center_child h3_cell_to_child_pos h3_cell_to_children
		h3_cell_to_children_slow h3_cell_to_lat_lng h3_cell_to_latlng h3_cell_to_local_ij
		h3_cell_to_parent h3_cell_to_vertex h3_cell_to_vertexes h3_cells_to_directed_edge
		h3_cells_to_multi_polygon h3_child_pos_to_cell h3_compact h3_compact_cells h3_degs_to_rads
		h3_directed_edge_to_boundary h3_directed_edge_to_cells h3_distance h3_edge_length
		h3_edge_length_km h3_edge_length_m h3_exact_edge_length h3_experimental_h3_to_local_ij
		h3_experimental_local_ij_to_h3 h3_geo_to_h3 h3_get_base_cell_number
		h3_get_destination_h3_index_from_unidirectional_edge h3_get_directed_edge_destination
		h3_get_directed_edge_origin h3_get_extension_version h3_get_faces
		h3_get_h3_indexes_from_unidirectional_edge h3_get_h3_unidirectional_edge
		h3_get_h3_unidirectional_edges_from_hexagon h3_get_hexagon_area_avg
		h3_get_hexagon_edge_length_avg h3_get_icosahedron_faces h3_get_num_cells
		h3_get_origin_h3_index_from_unidirectional_edge h3_get_pentagon_indexes h3_get_pentagons
		h3_get_res_0_cells h3_get_resolution h3_get_unidirectional_edge_boundary
		h3_great_circle_distance h3_grid_disk h3_grid_disk_distances h3_grid_distance
		h3_grid_path_cells h3_grid_ring_unsafe h3_h3_get_base_cell h3_h3_get_resolution
		h3_h3_indexes_are_neighbors h3_h3_is_pentagon h3_h3_is_res_class_iii h3_h3_is_valid
		h3_h3_set_to_linked_geo h3_h3_to_children h3_h3_to_children_slow h3_h3_to_geo
		h3_h3_to_geo_boundary h3_h3_to_parent h3_h3_to_string h3_h3_unidirectional_edge_is_valid
		h3_haversine_distance h3_hex_area h3_hex_area_km2 h3_hex_area_m2 h3_hex_range
		h3_hex_range_distances h3_hex_ranges h3_hex_ring h3_is_pentagon h3_is_res_class_iii
		h3_is_valid_cell h3_is_valid_directed_edge h3_is_valid_vertex h3_k_ring h3_k_ring_distances
		h3_lat_lng_to_cell h3_latlng_to_cell h3_line h3_local_ij_to_cell h3_num_hexagons
		h3_origin_to_directed_edges h3_point_dist h3_polyfill h3_polygon_to_cells
		h3_polygon_to_cells_experimental h3_rads_to_degs h3_string_to_h3 h3_to_center_child
		h3_to_children_slow h3_uncompact h3_uncompact_cells h3_vertex_to_lat_lng h3_vertex_to_latlng
		h3index_cmp h3index_contained_by h3index_contains h3index_distance h3index_eq h3index_ge
		h3index_gt h3index_le h3index_lt h3index_ne h3index_overlaps h3index_to_bigint`,
	},
	{
		// h3_postgis of h3-pg 4, without what reads rasters, and without the names that
		// h3 has too.
		name: "h3_postgis",
		allowed: `
		h3_cell_to_boundary_geography h3_cell_to_boundary_geometry h3_cell_to_geography
		h3_cell_to_geometry h3_cells_to_multi_polygon_geography h3_cells_to_multi_polygon_geometry
		h3_cells_to_multi_polygon_wkb h3_get_resolution_from_tile_zoom`,
	},
	{
		// tdigest up to 1.4.
		name: "tdigest",
		allowed: `
		tdigest tdigest_add tdigest_avg tdigest_count tdigest_digest_avg tdigest_digest_sum
		tdigest_double_array tdigest_json tdigest_percentile tdigest_percentile_of tdigest_sum
		tdigest_union`,
	},
	{
		name: "http",
		denied: []denial{
			{"opensConnection", "CodeFunctionNetworkAccess", "connects to another server or uses such a connection", `
			http http_get http_post http_put http_patch http_delete http_head
			http_set_curlopt http_reset_curlopt http_list_curlopt`},
		},
	},
}

// manualChecked are members of manualExtensions that are allowed for some
// arguments only.
var manualChecked = []struct {
	extension string
	checked
}{
	{"postgis_raster", checked{`
		st_approxcount st_approxhistogram st_approxquantile st_approxsummarystats st_count st_histogram
		st_quantile st_summarystats st_valuecount st_valuepercent`, "checkBand", "CodeDynamicSQL", "reads a table that it is given by name, unless its second argument is visibly a number or a Boolean"}},
	{"postgis_topology", checked{`
		getedgebypoint getfacebypoint getfacecontainingpoint getnodebypoint getnodeedges getringedges
		gettopogeomelementarray gettopogeomelements st_getfaceedges st_getfacegeometry`, "checkTopology", "CodeDynamicSQL", "reads the tables of a topology, so its first argument must be the topology's name as a literal"}},
	{"postgis", checked{"st_transform", "checkSRID", "CodeFunctionFileAccess", "takes a projection as text, which can name grid files; use an SRID"}},
}

// manualDenials are functions of other extensions. They are listed so that a
// refusal says what they do instead of only that they are unknown. A name with a
// schema is found only in that schema, and a * at its end matches any ending. A
// name without a schema is found unqualified and in public; in another schema it
// may be user-defined.
var manualDenials = []denial{
	{"opensConnection", "CodeFunctionNetworkAccess", "connects to another server or uses such a connection", `
		net.http_get net.http_post net.http_delete net.http_collect_response
		aws_s3.* aws_lambda.* aws_ml.* aws_comprehend.* aws_sagemaker.* azure_storage.* azure_ai.* azure_openai.*
		ai.openai_* ai.ollama_* ai.anthropic_* ai.cohere_* ai.voyageai_* ai.litellm_* ai.load_dataset*
		google_ml.* utl_http.* utl_smtp.* utl_tcp.* utl_mail.*
		query_export_to_s3 table_import_from_s3
		oracle_close_connections oracle_diag`},
	{"serverFile", "CodeFunctionFileAccess", "reads or writes files of the server", `
		pg_file_read pg_file_length utl_file.*`},
	{"runsSQL", "CodeDynamicSQL", "runs SQL text or reads a table that it is given by name", `
		run_command_on_workers run_command_on_placements run_command_on_shards
		run_command_on_colocated_placements run_command_on_all_nodes run_command_on_coordinator
		master_run_on_worker master_modify_multiple_shards
		pg_background_launch pg_background_result pg_background_detach
		oracle_execute dbms_sql.* repack.* graphql.resolve`},
	{"schedulesJobs", "CodeFunctionSideEffect", "schedules or changes background jobs", `
		cron.* dbms_job.* dbms_scheduler.* pgagent.*
		add_job alter_job delete_job add_retention_policy remove_retention_policy
		add_compression_policy remove_compression_policy add_continuous_aggregate_policy
		remove_continuous_aggregate_policy`},
	{"changesTables", "CodeFunctionSideEffect", "creates, changes or locks tables or rows", `
		create_hypertable drop_chunks compress_chunk decompress_chunk move_chunk
		create_distributed_table create_reference_table undistribute_table
		hypopg_create_index hypopg_drop_index hypopg_reset hypopg_hide_index
		pgmq.* partman.* pgq.*`},
	{"changesSession", "CodeFunctionSideEffect", "changes the session's state", `sepgsql_setcon`},
	{"changesCatalog", "CodeFunctionSideEffect", "writes to the system catalogs", `sepgsql_restorecon`},
	{"notifies", "CodeFunctionSideEffect", "sends a notification to other sessions", `
		dbms_alert.* dbms_pipe.*`},
	{"advisoryLock", "CodeFunctionSideEffect", "takes or releases advisory locks", `dbms_lock.*`},
	{"changesStatistics", "CodeFunctionSideEffect", "changes or resets statistics", `
		pg_stat_kcache_reset pg_qualstats_reset pg_wait_sampling_reset_profile pg_stat_monitor_reset`},
	{"replication", "CodeFunctionAdmin", "controls or reports replication", `pglogical.* spock.*`},
	{"handlesSecrets", "CodeFunctionNotAllowed", "handles passwords or keys, which do not belong in a query", `
		vault.* pgsodium.*`},
}
