"""Models for every kind of write: keys of all sorts, relations of all sorts, values that the database chooses."""

import uuid
from typing import Any

import django
from django.contrib.contenttypes.fields import GenericForeignKey, GenericRelation
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.db.models.functions import Now, Random


class Tag(models.Model):
    name = models.CharField(max_length=50, unique=True)

    def __str__(self) -> str:
        return self.name


class Group(models.Model):
    name = models.CharField(max_length=50)


class Customer(models.Model):
    name = models.CharField(max_length=100)
    email = models.CharField(max_length=100, unique=True)
    credit = models.DecimalField(max_digits=10, decimal_places=2, default=0)
    prefs = models.JSONField(default=dict, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    tags = models.ManyToManyField(Tag, blank=True)
    groups = models.ManyToManyField(Group, through="Membership")
    friends = models.ManyToManyField("self")


class Membership(models.Model):
    customer = models.ForeignKey(Customer, models.CASCADE)
    group = models.ForeignKey(Group, models.CASCADE)
    role = models.CharField(max_length=20, default="member")


class Order(models.Model):
    customer = models.ForeignKey(Customer, models.CASCADE, related_name="orders")
    status = models.CharField(max_length=20, default="open")
    total = models.DecimalField(max_digits=10, decimal_places=2, default=0)
    token = models.UUIDField(default=uuid.uuid4)
    placed_at = models.DateTimeField(db_default=Now())
    priority = models.IntegerField(db_default=5)
    double = models.GeneratedField(
        expression=models.F("total") * 2,
        output_field=models.DecimalField(max_digits=12, decimal_places=2),
        db_persist=True,
    )

    def __str__(self) -> str:
        return f"Order of {self.customer.name}"  # costs a query


class OrderLine(models.Model):
    order = models.ForeignKey(Order, models.CASCADE, related_name="lines")
    sku = models.CharField(max_length=20)
    quantity = models.IntegerField(default=1)


class Note(models.Model):
    order = models.ForeignKey(Order, models.SET_NULL, null=True)
    text = models.CharField(max_length=100)


class Guarded(models.Model):
    tag = models.ForeignKey(Tag, models.PROTECT)


class Fallback(models.Model):
    tag = models.ForeignKey(Tag, models.SET_DEFAULT, default=1, related_name="+")


class Place(models.Model):
    name = models.CharField(max_length=50)


class Restaurant(Place):
    stars = models.IntegerField(default=0)


class ItalianRestaurant(Restaurant):
    pasta = models.BooleanField(default=True)


class PlaceProxy(Place):
    class Meta:
        proxy = True


class Document(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    title = models.CharField(max_length=50)


class Page(models.Model):
    document = models.ForeignKey(Document, models.CASCADE)
    number = models.IntegerField()
    body = models.TextField(default="")


class Country(models.Model):
    code = models.CharField(max_length=3, unique=True)
    name = models.CharField(max_length=50)


class City(models.Model):
    country = models.ForeignKey(Country, models.CASCADE, to_field="code")
    name = models.CharField(max_length=50)


class Setting(models.Model):
    key = models.CharField(max_length=20, primary_key=True)
    value = models.CharField(max_length=50)


class Node(models.Model):
    parent = models.ForeignKey("self", models.CASCADE, null=True)
    name = models.CharField(max_length=20)


class Folder(models.Model):
    name = models.CharField(max_length=20)
    attachments = GenericRelation("Attachment")


class Attachment(models.Model):
    content_type = models.ForeignKey(ContentType, models.CASCADE)
    object_id = models.PositiveBigIntegerField()
    target = GenericForeignKey()
    name = models.CharField(max_length=20)


class Blob(models.Model):
    data = models.BinaryField()
    ratio = models.FloatField(default=0)
    span = models.DurationField(null=True)
    day = models.DateField(null=True)
    at = models.DateTimeField(null=True)


class Stamp(models.Model):
    """A date and a time of the day that saving sets."""

    day = models.DateField(auto_now=True)
    hour = models.TimeField(auto_now_add=True)
    label = models.CharField(max_length=20, default="")


class Remote(models.Model):
    """Lives in the database `other`."""

    label = models.CharField(max_length=20)


class Item(models.Model):
    pk = models.CompositePrimaryKey("tenant", "code")
    tenant = models.IntegerField()
    code = models.CharField(max_length=10)
    quantity = models.IntegerField(default=0)


class Draw(models.Model):
    nonce = models.FloatField(db_default=Random())
    note = models.CharField(max_length=20, default="")


class Bulk(models.Model):
    """For measurements with many rows."""

    number = models.IntegerField(db_index=True)
    name = models.CharField(max_length=50, default="")
    price = models.DecimalField(max_digits=10, decimal_places=2, default=0)
    data = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)


class Odd:
    """A value of a type that nobody has a canonical form for."""


class OddField(models.IntegerField):
    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return None if value is None else Odd()


class Strange(models.Model):
    odd = OddField(null=True)


if django.VERSION >= (6, 1):

    class CascadeParent(models.Model):
        name = models.CharField(max_length=20)

    class CascadeChild(models.Model):
        parent = models.ForeignKey(CascadeParent, models.DB_CASCADE)
        name = models.CharField(max_length=20)
